from .mapped import Mapped as Mapped
from .mapped import MappedModel as MappedModel
from .mapping import map as map
from .mapping import map_many as map_many
from .network import map_network as map_network
from .options import LibraryError as LibraryError
from .options import Options as Options
