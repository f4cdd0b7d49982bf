"""Feature transformers."""

from ..core.names import names_of_sklearn
from .basis_functions import BasisFunctions
from .datetime_encoder import DatetimeEncoder
from .discretizer import KBinsDiscretizer
from .encoders import OneHotEncoder, OrdinalEncoder
from .polynomial import PolynomialFeatures, SplineTransformer
from .quantile_transformer import QuantileTransformer
from .scalers import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from .target_encoder import TargetEncoder

__all__ = [
    "BasisFunctions",
    "DatetimeEncoder",
    "KBinsDiscretizer",
    "MaxAbsScaler",
    "MinMaxScaler",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "QuantileTransformer",
    "RobustScaler",
    "SplineTransformer",
    "StandardScaler",
    "TargetEncoder",
]

__getattr__ = names_of_sklearn(__name__)
