"""Support vector machines, and margins of separating hyperplanes."""

from ..core.names import names_of_sklearn
from .kernel_machine import KernelMachine
from .linear import LinearSVC, LinearSVR
from .margins import (
    hyperplane_distance,
    hyperplane_projection,
    is_linearly_separable,
    margin,
    novikoff_bound,
)
from .nu_svc import NuSVC
from .nu_svr import NuSVR
from .one_class import OneClassSVM
from .path import svc_path
from .smo import SMOStep, smo_step
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
    "SMOStep",
    "hyperplane_distance",
    "hyperplane_projection",
    "is_linearly_separable",
    "margin",
    "novikoff_bound",
    "smo_step",
    "svc_path",
]

__getattr__ = names_of_sklearn(__name__)
