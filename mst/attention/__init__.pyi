from .attend import Attention as Attention
from .patterns import DENSE as DENSE
from .patterns import PATTERNS as PATTERNS
from .patterns import check_pattern as check_pattern
from .patterns import distances as distances
from .patterns import visible as visible
from .patterns import visible_pairs as visible_pairs
