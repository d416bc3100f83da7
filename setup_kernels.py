"""Kernels in typed Python become Cython: their files joined, types and constants made C's.

A kernel is one extension, named by the module that holds its entries. Its sources are that module
and every module of the project that it imports, directly or not, and that has functions marked
`marl_common.part`. They are joined, so that the C compiler can inline across files; two of them
can't define one name. Other modules of the project that they import hold constants and records
only: they are imported here without their packages' `__init__`, so they may need NumPy and the
standard library at most.

In a kernel ``int`` is C's ``long long``, ``float`` ``double``, ``bool`` a flag, ``tuple[int, int]``
two values; ``IntArray``, ``FloatArray``, ``BoolArray``, ``Int32Array`` and the like are flat
arrays; a NamedTuple is a struct by value; a record, which is a NumPy dtype with names, a pointer to
its struct, or to its union where all its fields begin at the first byte. ``//`` and ``%`` round
down as in Python, and give 0 for a divisor of 0; ``/`` is C's. Cython's own types and decorators
may stand in a source too.
"""

from __future__ import annotations

import ast
import enum
import importlib
import numbers
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent
SCALARS = {"int": "longlong", "float": "double", "bool": "bint", "np.uint64": "ulonglong"}
ARRAYS = {
    "IntArray": ("longlong", "lq"),
    "FloatArray": ("double", "d"),
    "BoolArray": ("bint8", "?"),
    "Float32Array": ("float", "f"),
    "UInt64Array": ("ulonglong", "LQ"),
    "Int32Array": ("int", "i"),
    "Int16Array": ("short", "h"),
    "Int8Array": ("schar", "b"),
}
"""C's type of an element, and the letters that NumPy's buffers may give it."""
C_TYPES = {
    "longlong": "long long",
    "double": "double",
    "bint": "bint",
    "bint8": "unsigned char",
    "ulonglong": "unsigned long long",
    "float": "float",
    "int": "int",
    "short": "short",
    "schar": "signed char",
}
LARGEST_INT, LARGEST_INT64 = 2**31 - 1, 2**63 - 1
CASTS = {"int": "longlong", "float": "double", "bool": "bint", "uint64": "ulonglong"}
"""A conversion is a call until the text is written: Cython can't infer the type of its own call."""
ROUNDED = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}
PART = ["cython.cfunc", "cython.nogil", "cython.exceptval(check={checked})"]
MATH = "ceil, exp, fabs, floor, isfinite, isnan, log, log2, log10, sqrt, tanh"
"""Functions of C's that sources call by NumPy's names, or by those of `math`."""
PRELUDE = '''# cython: language_level=3, wraparound=False, cdivision=True, infer_types=True
# cython: initializedcheck=False, boundscheck={checked}, show_performance_hints=False
cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer)
from libc.math cimport {math}, INFINITY as inf

cdef extern from *:
    """
    static inline long long floor_div(long long a, long long b) {{
        if (b == 0) return 0;
        long long q = a / b;
        return q - ((q * b != a) & ((a < 0) != (b < 0)));
    }}
    static inline long long floor_mod(long long a, long long b) {{
        return b == 0 ? 0 : a - floor_div(a, b) * b;
    }}
    """
    long long floor_div(long long, long long) noexcept nogil
    long long floor_mod(long long, long long) noexcept nogil

cdef void* pointer_to(array, size_t size, str letters, str name) except? NULL:
    """Where an array's elements begin; TypeError where they are not what a kernel takes."""
    cdef Py_buffer view
    # NumPy takes long to write down the format of a record, and its size tells enough
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | (PyBUF_FORMAT if letters else 0))
    fits = <size_t>view.itemsize == size and (not letters or chr(view.format[0]) in letters)
    PyBuffer_Release(&view)
    if not fits:
        wanted = f"elements of {{size}} B ({{letters or 'a record'}})"
        raise TypeError(f"{{name}}: got {{array.dtype}} - expected {{wanted}}")
    return view.buf

def flat(array):
    flat = array.reshape(-1)
    return flat if flat.flags.writeable else flat.copy()
'''


class KernelError(Exception):
    """A source that can't be made a kernel."""


def path_of(module: str) -> Path:
    """The file of a module of the project."""
    return ROOT / (module.replace(".", "/") + ".py")


class BareModules:
    """Modules of the project without the `__init__` of the packages around them.

    A package's names come from the modules that its stub tells, when they are asked for. What this
    process has imported of the project is left as it is.
    """

    def __init__(self) -> None:
        inits = [path for n in (1, 2, 3) for path in ROOT.glob(f"{n * '*/'}__init__.py")]
        self._tops = {path.relative_to(ROOT).parts[0] for path in inits}
        names = [".".join(path.parent.relative_to(ROOT).parts) for path in inits]
        self._modules = {name: _bare_package(name) for name in names}

    def load(self, name: str) -> ModuleType:
        """Import one module."""
        beside = self._taken()
        sys.modules.update(self._modules)
        sys.path.insert(0, str(ROOT))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(ROOT))
            self._modules = self._taken()
            sys.modules.update(beside)

    def _taken(self) -> dict[str, ModuleType]:
        names = [name for name in sys.modules if name.partition(".")[0] in self._tops]
        return {name: sys.modules.pop(name) for name in names}


def _bare_package(name: str) -> ModuleType:
    package, folder = ModuleType(name), ROOT / name.replace(".", "/")
    package.__path__ = [str(folder)]

    def named(wanted: str) -> Any:
        stub = folder / "__init__.pyi"
        for node in ast.parse(stub.read_text(encoding="utf-8")).body if stub.exists() else ():
            if isinstance(node, ast.ImportFrom) and wanted in [a.name for a in node.names]:
                return getattr(importlib.import_module(f"{name}.{node.module}"), wanted)
        raise AttributeError(wanted)

    package.__getattr__ = named  # type: ignore[method-assign]
    return package


def is_part(tree: ast.Module) -> bool:
    """Whether a module has functions that are compiled."""
    marks = {
        d.id
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for d in node.decorator_list
        if isinstance(d, ast.Name)
    }
    return bool(marks & {"part", "entry"})


class Joined:
    """The sources of one kernel in the order in which they need each other.

    Args:
        kernel: The module that holds the entries.

    Raises:
        KernelError: Two sources define one name.
    """

    def __init__(self, kernel: str) -> None:
        self.sources: dict[str, ast.Module] = {}
        self.names: dict[str, Any] = {}
        self.origin: dict[str, str] = {}
        self.files: list[Path] = []
        self.bare = BareModules()
        self._join(kernel)

    def _join(self, module: str) -> None:
        path = path_of(module)
        self.files.append(path)
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        body: list[ast.stmt] = []
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and path_of(node.module or "").exists():
                self._imported(node)
            elif isinstance(node, ast.FunctionDef):
                self._claim(node.name, module)
                body.append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                raise KernelError(
                    f"{path}:{node.lineno}: constants belong in a module without parts"
                )
        self.sources[module] = ast.Module(body, [])

    def _imported(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
        if is_part(tree):
            if module not in self.sources:
                self._join(module)
            return
        if path_of(module) not in self.files:
            self.files.append(path_of(module))
        held = vars(self.bare.load(module))
        # a record's fields may be records that no source names
        self.names |= {n: v for n, v in held.items() if getattr(v, "names", None)}
        for alias in node.names:
            name = alias.asname or alias.name
            if self.names.get(name, held[alias.name]) is not held[alias.name]:
                raise KernelError(f"{module}.{alias.name}: another value has that name")
            self.names[name] = held[alias.name]

    def _claim(self, name: str, module: str) -> None:
        if name in MATH.split(", "):
            raise KernelError(f"{name} of {module} is a name of C's too: rename it")
        other = self.origin.setdefault(name, module)
        if other != module:
            raise KernelError(f"{name} is defined in {other} and in {module}: rename one of them")


class Structs:
    """C's structs for records (dtypes with names) and for NamedTuples.

    Args:
        names: What the sources import from modules of constants.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self.records = {n: v for n, v in names.items() if getattr(v, "names", None)}
        self.tuples = {n: v for n, v in names.items() if hasattr(v, "_fields")}

    def text(self) -> str:
        """Definitions in C, and declarations of them for Cython."""
        if not self.records and not self.tuples:
            return ""
        in_c, declared = [], []
        for name in self._ordered():
            fields = self._fields(name)
            body = " ".join(f"{kind} {field}{shape};" for kind, field, shape in fields)
            kind = "union" if self._overlaps(name) else "struct"
            in_c.append(f"    typedef {kind} {{ {body} }} {name};")
            if name in self.records:
                size = self.records[name].itemsize
                in_c.append(f'    _Static_assert(sizeof({name}) == {size}, "{name}: align=True");')
            lines = [f"        {kind} {field}{shape}" for kind, field, shape in fields]
            declared.append("\n".join([f"    ctypedef struct {name}:", *lines]))
        return "\n".join(["cdef extern from *:", '    """', *in_c, '    """', *declared, ""])

    def _ordered(self) -> list[str]:
        ordered: list[str] = []

        def visit(name: str) -> None:
            for field, _ in (self.records[name].fields or {}).values():
                inner = self._name(field.base)
                if inner is not None and inner not in ordered:
                    visit(inner)
            if name not in ordered:
                ordered.append(name)

        for name in self.records:
            visit(name)
        return [*ordered, *self.tuples]

    def _overlaps(self, name: str) -> bool:
        """Whether all fields of a record begin at its first byte."""
        fields = self.records[name].fields if name in self.records else {}
        return len(fields) > 1 and not any(offset for _, offset in fields.values())

    def _name(self, dtype: Any) -> str | None:
        if dtype.names is None:
            return None
        found = next((n for n, record in self.records.items() if record == dtype), None)
        if found is None:
            raise KernelError(f"import the record of the fields {', '.join(dtype.names)} too")
        return found

    def _fields(self, name: str) -> list[tuple[str, str, str]]:
        """Type, name and shape of each field of a struct."""
        if name in self.tuples:
            hints = self.tuples[name].__annotations__
            return [(_struct_type(hints[f]), f, "") for f in self.tuples[name]._fields]
        found = []
        for field in self.records[name].names:
            dtype = self.records[name].fields[field][0]
            shape = "".join(f"[{size}]" for size in dtype.shape)
            base = self._name(dtype.base) or _dtype_type(dtype.base)
            found.append((base, field, shape))
        return found


def _struct_type(hint: Any) -> str:
    kind = {"int": "longlong", "float": "double", "bool": "int"}[hint.__forward_arg__]
    return C_TYPES[kind]


def _dtype_type(dtype: Any) -> str:
    held = {"i8": "longlong", "f8": "double", "i4": "int", "i1": "schar", "u8": "ulonglong"}
    held["f4"] = "float"
    return C_TYPES[held.get(dtype.str[1:], "bint8")]


def constants_text(names: dict[str, Any]) -> str:
    """The numbers that sources import, and tuples of whole ones, as C's literals."""
    defined, declared = [], []
    for name, value in names.items():
        if isinstance(value, tuple) and value and isinstance(value[0], int):
            held = ", ".join(map(str, value))
            defined.append(f"    static const long long CONSTANT_{name}[] = {{{held}}};")
            declared.append(f'    const long long {name} "CONSTANT_{name}"[{len(value)}]')
            continue
        if not isinstance(value, numbers.Real):
            continue
        real = isinstance(value, float)
        large = not real and value > LARGEST_INT64
        literal = repr(float(value)) if real else f"{int(value)}{'ULL' if large else 'LL'}"
        kind = C_TYPES["double" if real else "ulonglong" if large else "longlong"]
        defined.append(f"    #define CONSTANT_{name} ({literal})")
        declared.append(f'    {kind} {name} "CONSTANT_{name}"')
    if not defined:
        return ""
    return "\n".join(["cdef extern from *:", '    """', *defined, '    """', *declared, ""])


class Translator(ast.NodeTransformer):
    """Typed Python to Cython's pure Python mode.

    Args:
        joined: The sources.
        structs: Their structs.
        checked: Whether arrays check their bounds.
    """

    def __init__(self, joined: Joined, structs: Structs, checked: bool) -> None:
        self.joined, self.structs, self.checked = joined, structs, checked
        self.entries: list[ast.FunctionDef] = []

    def type_of(self, hint: ast.expr | None) -> ast.expr | None:
        """Cython's type of an annotation."""
        if hint is None:
            return None
        text = ast.unparse(hint)
        if text == "None":
            return _expr("cython.void")
        if text in SCALARS:
            return _expr(f"cython.{SCALARS[text]}")
        if text in ARRAYS:
            element = C_TYPES[ARRAYS[text][0]].replace(" ", "_")
            return _expr(f"{element}{'_view' if self.checked else '_pointer'}")
        if text in self.structs.records:
            return _expr(f"cython.pointer({text})")
        if text.startswith("tuple["):
            assert isinstance(hint, ast.Subscript)
            assert isinstance(hint.slice, ast.Tuple)
            inner = [ast.unparse(self.type_of(e) or e) for e in hint.slice.elts]
            return _expr(f"tuple[{', '.join(inner)}]")
        return hint

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A C function; what Python calls is kept for its wrapper."""
        marks = [ast.unparse(d) for d in node.decorator_list]
        if "entry" in marks:
            self.entries.append(ast.parse(ast.unparse(node)).body[0])  # type: ignore[arg-type]
            node.name = f"run_{node.name}"
        if "part" in marks or "entry" in marks:
            own = [_expr(mark.format(checked=self.checked)) for mark in PART]
            node.decorator_list = [
                *(d for d in node.decorator_list if ast.unparse(d) not in ("part", "entry")),
                *own,
            ]
        for arg in node.args.args:
            arg.annotation = self.type_of(arg.annotation)
        node.returns = self.type_of(node.returns)
        flags = [ast.parse(f"{name}: cython.bint").body[0] for name in _flags(node)]
        node.body = [*flags, *(self.visit(statement) for statement in node.body)]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A typed local."""
        self.generic_visit(node)
        node.annotation = self.type_of(node.annotation) or node.annotation
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Conversions, and addresses of records."""
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in CASTS:
            return ast.Call(_expr(f"CAST_{CASTS[name]}"), node.args, [])
        if name == "address":
            return ast.Call(_expr("cython.address"), node.args, [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A member of an enumeration is its number; functions of NumPy are C's."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            held = self.joined.names.get(node.value.id)
            if isinstance(held, type) and issubclass(held, enum.Enum):
                return ast.Constant(int(held[node.attr].value))
            if node.value.id in ("np", "math"):
                return _expr(node.attr)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Division that rounds down; a comparison counts 0 or 1."""
        self.generic_visit(node)
        node.left, node.right = _number(node.left), _number(node.right)
        rounded = ROUNDED.get(type(node.op))
        return node if rounded is None else ast.Call(_expr(rounded), [node.left, node.right], [])

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Numbers that C's int can't hold have names, or Cython would take them for Python's."""
        if not isinstance(node.value, int) or abs(node.value) <= LARGEST_INT:
            return node
        self.joined.names[f"WHOLE_{node.value}"] = node.value
        return _expr(f"WHOLE_{node.value}")

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """The same in place."""
        self.generic_visit(node)
        rounded = ROUNDED.get(type(node.op))
        if rounded is None:
            return node
        left = _expr(ast.unparse(node.target))
        return ast.Assign([node.target], ast.Call(_expr(rounded), [left, node.value], []))


def _expr(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _number(value: ast.expr) -> ast.expr:
    return ast.Call(_expr("CAST_bint"), [value], []) if isinstance(value, ast.Compare) else value


def _flags(function: ast.FunctionDef) -> list[str]:
    """Locals that are flags: Cython would take them for Python's."""
    declared = {arg.arg for arg in function.args.args}
    flags: list[str] = []

    def is_flag(value: ast.expr) -> bool:
        if isinstance(value, ast.BoolOp):
            return any(map(is_flag, value.values))
        if isinstance(value, ast.Name):
            return value.id in flags
        return (
            isinstance(value, ast.Compare)
            or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
            or (isinstance(value, ast.Constant) and isinstance(value.value, bool))
        )

    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.add(node.target.id)
        elif isinstance(node, ast.Assign) and is_flag(node.value):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            flags += [name for name in names if name not in declared and name not in flags]
    return flags


def _wrapper(entry: ast.FunctionDef, structs: Structs, checked: bool) -> str:
    """The function that Python calls: it takes addresses, and releases the lock."""
    heads, lines, passed = [], [], []
    for arg in entry.args.args:
        text, name = ast.unparse(arg.annotation) if arg.annotation else "", arg.arg
        if text in SCALARS:
            heads.append(f"{C_TYPES[SCALARS[text]]} {name}")
            passed.append(name)
            continue
        heads.append(name)
        passed.append(f"at_{name}")
        if text in structs.records:
            lines.append(f"cdef {text}* at_{name} = <{text}*>pointer_to("
                         f"{name}, sizeof({text}), '', '{name}')")  # fmt: skip
            continue
        if text not in ARRAYS:
            raise KernelError(f"{entry.name}: {name}: {text} is not what an entry can take")
        kind, letters = ARRAYS[text]
        kind = C_TYPES[kind]
        lines.append(
            f"cdef {kind}[::1] at_{name} = flat({name})"
            if checked
            else f"cdef {kind}* at_{name} = <{kind}*>pointer_to("
            f"{name}, sizeof({kind}), '{letters}', '{name}')"
        )
    returned = ast.unparse(entry.returns) if entry.returns else "None"
    call = f"run_{entry.name}({', '.join(passed)})"
    if returned == "None":
        lines += ["with nogil:", f"    {call}"]
    else:
        kind = C_TYPES[SCALARS[returned]]
        lines += [f"cdef {kind} result", "with nogil:", f"    result = {call}", "return result"]
    return "\n    ".join([f"def {entry.name}({', '.join(heads)}):", *lines]) + "\n"


def translate(kernel: str, checked: bool = False) -> tuple[str, list[Path]]:
    """One kernel as Cython.

    Args:
        kernel: The module that holds its entries, such as ``cost_models.maestro.kernel``.
        checked: Whether arrays check their bounds: slower, and a wrong index raises IndexError.

    Returns:
        The text, and the files it was made from.

    Raises:
        KernelError: See :class:`Joined`; or an entry takes or returns what it can't.
    """
    joined = Joined(kernel)
    structs = Structs(joined.names)
    translator = Translator(joined, structs, checked)
    bodies = []
    for module, tree in joined.sources.items():
        text = ast.unparse(ast.fix_missing_locations(translator.visit(tree)))
        for kind, in_c in C_TYPES.items():
            text = text.replace(f"CAST_{kind}(", f"<{in_c}>(")
        bodies.append(f"# {path_of(module).relative_to(ROOT)}\n{text}\n")
    kinds = {C_TYPES[kind] for kind, _ in ARRAYS.values()}
    types = [
        f"ctypedef {kind}[::1] {kind.replace(' ', '_')}_view" if checked
        else f"ctypedef {kind}* {kind.replace(' ', '_')}_pointer"
        for kind in sorted(kinds)
    ]  # fmt: skip
    wrappers = [_wrapper(entry, structs, checked) for entry in translator.entries]
    text = "\n".join(
        [
            PRELUDE.format(checked=checked, math=MATH),
            *types,
            "",
            constants_text(joined.names),
            structs.text(),
            *bodies,
            *wrappers,
            _stamps(kernel, joined),
        ]
    )
    return text, joined.files


def _stamps(kernel: str, joined: Joined) -> str:
    source_hash = joined.bare.load("marl_common.kernel_source").source_hash
    stamps = {path.relative_to(ROOT).as_posix(): source_hash(path) for path in joined.files}
    return f"from marl_common import check_built\ncheck_built({kernel!r}, __file__, {stamps!r})\n"
