"""Support vector machines."""

from ..core.names import names_of_sklearn
from .kernel_machine import KernelMachine
from .linear import LinearSVC, LinearSVR
from .nu_svc import NuSVC
from .nu_svr import NuSVR
from .one_class import OneClassSVM
from .path import svc_path
from .svc import SVC, KKTReport
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "KKTReport",
    "KernelMachine",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "svc_path",
]

__getattr__ = names_of_sklearn(__name__)
