"""Functions of tensorflow.python.util.nest that have no public name: structures with the paths of their leaves, and structures down to another one."""
import collections.abc

from thalweg import nest as _nest


def is_namedtuple(instance, strict=False):
    """Whether it is a tuple with names."""
    del strict
    return isinstance(instance, tuple) and isinstance(getattr(instance, "_fields", None), collections.abc.Sequence)


def is_mapping(value):
    """Whether it is a dict or the like."""
    return isinstance(value, collections.abc.Mapping)


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__")


def _yield_sorted_items(structure):
    """(key, member): names of tuples and of attrs, sorted keys of mappings, else numbers."""
    if is_mapping(structure):
        yield from ((key, structure[key]) for key in sorted(structure))
    elif _is_attrs(structure):
        yield from ((field.name, getattr(structure, field.name)) for field in type(structure).__attrs_attrs__)
    elif is_namedtuple(structure):
        yield from zip(structure._fields, structure)
    else:
        yield from enumerate(structure)


def _yield_value(structure):
    """The members in order."""
    for _, value in _yield_sorted_items(structure):
        yield value


def _sequence_like(instance, args):
    """Other members in a structure of the same kind; a mapping's come in the order of its sorted keys."""
    if is_mapping(instance):
        found = dict(zip(sorted(instance), args))
        pairs = ((key, found[key]) for key in instance)
        if isinstance(instance, collections.defaultdict):
            return type(instance)(instance.default_factory, pairs)
        return type(instance)(pairs)
    if is_namedtuple(instance) or _is_attrs(instance):
        return type(instance)(*args)
    return type(instance)(args)


sequence_like, yield_value, _is_namedtuple = _sequence_like, _yield_value, is_namedtuple


def _leaves(shallow, value, path, is_nested):
    """(path, leaf) of a structure, down to another one."""
    if not is_nested(shallow):
        yield path, value
        return
    members = dict(_yield_sorted_items(value))
    for key, one in _yield_sorted_items(shallow):
        yield from _leaves(one, members[key], (*path, key), is_nested)


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Fails unless the first structure is the upper part of the second."""
    del expand_composites
    if not _nest.is_nested(shallow_tree):
        return
    if not _nest.is_nested(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: %s." % type(input_tree))
    if check_types and type(shallow_tree) is not type(input_tree) and not (is_mapping(shallow_tree) and is_mapping(input_tree)) and not (
            is_namedtuple(shallow_tree) and is_namedtuple(input_tree) and shallow_tree._fields == input_tree._fields):
        raise TypeError("The two structures don't have the same sequence type. Input structure has type %s, while shallow structure has type %s." % (
            type(input_tree), type(shallow_tree)))
    if len(input_tree) != len(shallow_tree):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length %d, while shallow structure has length %d." % (
            len(input_tree), len(shallow_tree)))
    members = dict(_yield_sorted_items(input_tree))
    for key, one in _yield_sorted_items(shallow_tree):
        if key not in members:
            raise ValueError("The two structures don't have the same keys. Input structure has keys %s, while shallow structure has keys %s." % (
                list(members), [name for name, _ in _yield_sorted_items(shallow_tree)]))
        assert_shallow_structure(one, members[key], check_types)


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """(path, member) for each leaf of the first structure."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_leaves(shallow_tree, input_tree, (), _nest.is_nested))


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """The members of the second structure that stand where the first has leaves."""
    return [value for _, value in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types, expand_composites)]


def flatten_with_tuple_paths(structure, expand_composites=False):
    """(path, leaf) for each leaf; a path is a tuple of keys and numbers."""
    del expand_composites
    return list(_leaves(structure, structure, (), _nest.is_nested))


def yield_flat_paths(structure, expand_composites=False):
    """The paths of the leaves."""
    for path, _ in flatten_with_tuple_paths(structure, expand_composites):
        yield path


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """(path, leaf) for each leaf; a path is a text."""
    return [(separator.join(str(part) for part in path), leaf) for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """What a function gives for the members of structures that stand where the first has leaves."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """The same; the function gets the path first."""
    if not inputs:
        raise ValueError("Argument `inputs` is empty. Cannot map over no sequences.")
    check_types, expand = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    flat = [flatten_with_tuple_paths_up_to(shallow_tree, one, check_types, expand) for one in inputs]
    results = [func(parts[0][0], *(value for _, value in parts), **kwargs) for parts in zip(*flat)]
    return _nest.pack_sequence_as(shallow_tree, results)


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """What a function gives for paths and leaves."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func, *structure, **kwargs):
    """The same with paths as texts."""
    return map_structure_with_tuple_paths(lambda path, *values, **rest: func("/".join(str(part) for part in path), *values, **rest), *structure, **kwargs)


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """The upper part of a structure down to where a function says False: a structure whose leaves are True or False."""
    goes_on = traverse_fn(structure)
    if not _nest.is_nested(structure):
        if not isinstance(goes_on, bool):
            raise TypeError("traverse_fn returned structure: %s for non-structure: %s" % (goes_on, structure))
        return goes_on
    if not isinstance(goes_on, bool):
        assert_shallow_structure(goes_on, structure, expand_composites=expand_composites)
        return _sequence_like(structure, [
            get_traverse_shallow_structure(traverse_fn, value) if _nest.is_nested(value) and one is True else one
            for one, value in zip(_yield_value(goes_on), _yield_value(structure))])
    if not goes_on:
        return False
    return _sequence_like(structure, [get_traverse_shallow_structure(traverse_fn, value, expand_composites) for value in _yield_value(structure)])


def flatten_dict_items(dictionary):
    """A dict whose keys and values are structures of the same form as a flat one."""
    flat = {}
    for key, value in dictionary.items():
        keys, values = (_nest.flatten(key), _nest.flatten(value)) if _nest.is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError("Could not flatten dictionary. Key had %d elements, but value had %d elements. Key: %s, value: %s." % (len(keys), len(values), keys, values))
        for one, other in zip(keys, values):
            if one in flat:
                raise ValueError("Could not flatten dictionary: key %s is not unique." % (one,))
            flat[one] = other
    return flat
