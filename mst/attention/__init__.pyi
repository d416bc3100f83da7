from .attend import Attention as Attention
from .chunked import chunked as chunked
from .patterns import DENSE as DENSE
from .patterns import PATTERNS as PATTERNS
from .patterns import check_pattern as check_pattern
from .patterns import visible as visible
from .patterns import visible_pairs as visible_pairs
