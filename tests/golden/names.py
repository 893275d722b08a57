"""What tf.nest, tf.TensorSpec and tf.io.gfile expressions give in TensorFlow: makes tests/python/names.json for
tests/python/test_names.py.

Usage: names.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions

EXPRESSIONS = r"""
tf.nest.flatten({'b':1,'a':(2,[3])})
tf.nest.flatten(None)
tf.nest.flatten({1:2,'a':3})
tf.nest.flatten(5)
tf.nest.is_nested([1]),tf.nest.is_nested('a'),tf.nest.is_nested({}),tf.nest.is_nested({1}), tf.nest.is_nested(tf.constant([1]))
tf.nest.map_structure(lambda a,b:a+b,[1,(2,)],[1,(2,)])
tf.nest.map_structure(lambda a,b:a+b,[1,(2,)],[1,[2]])
tf.nest.map_structure(lambda a,b:a+b,[1,(2,)],[1,[2]],check_types=False)
tf.nest.map_structure(lambda a,b:a+b,[1,(2,)],[1,2])
tf.nest.map_structure(lambda a,b:a+b,[1,2],[1,2,3])
tf.nest.map_structure(lambda a,b:a+b,{'a':1},{'b':1})
tf.nest.map_structure(lambda a:a)
tf.nest.map_structure(3,[1])
tf.nest.map_structure(lambda a:a,[1],foo=2)
tf.nest.pack_sequence_as({'b':1,'a':2},[1,2])
tf.nest.pack_sequence_as([1,(2,3)],[1,2])
tf.nest.pack_sequence_as([1,(2,3)],[1,2,4,5])
tf.nest.pack_sequence_as(1,[1])
tf.nest.pack_sequence_as(1,[1,2])
tf.nest.pack_sequence_as([1],3)
tf.nest.pack_sequence_as([1,2],(3,4))
tf.nest.pack_sequence_as([1],[[3]])
tf.nest.assert_same_structure([1,(2,)],[1,(3,)])
tf.nest.assert_same_structure([1,(2,)],[1,[3]])
tf.nest.assert_same_structure(1,[1])
tf.nest.assert_same_structure([1,2],[1])
tf.nest.assert_same_structure({'a':1},{'b':1})
tf.nest.assert_same_structure({'a':[1,2]},{'a':[1,3,3]})
tf.nest.assert_same_structure([1,[2]],[[1],2])
tf.io.gfile.exists('/nonexist')
tf.io.gfile.listdir('/nonexist')
tf.io.gfile.mkdir('/nonexist/a')
tf.io.gfile.mkdir('/tmp')
tf.io.gfile.makedirs('/tmp')
tf.io.gfile.remove('/nonexist')
tf.io.gfile.remove('/tmp')
tf.io.gfile.rmtree('/nonexist')
tf.io.gfile.glob('/nonexist/*')
tf.io.gfile.GFile('/nonexist').read()
tf.io.gfile.GFile('/nonexist','q')
tf.io.gfile.GFile('/nonexist','w').read()
tf.io.gfile.GFile('/nonexist','r').write('a')
tf.io.gfile.join('a','b')
tf.io.gfile.isdir('/tmp'), tf.io.gfile.isdir('/nonexist'), tf.io.gfile.exists(b'/tmp')
tf.nest.map_structure(lambda a:a+1,__import__('collections').namedtuple('P', 'x y')(1, [2]))
tf.nest.assert_same_structure(__import__('collections').namedtuple('P', 'x y')(1, 2),__import__('collections').namedtuple('P', 'x z')(1, 2))
tf.nest.assert_same_structure(__import__('collections').namedtuple('P', 'x y')(1, 2),(1,2))
tf.nest.assert_same_structure({'a':1},__import__('collections').OrderedDict(a=1))
tf.nest.assert_same_structure([1],{'a':1})
tf.nest.assert_same_structure([1],{0:1}, check_types=False)
tf.nest.assert_same_structure([1],{'a':1}, check_types=False)
tf.nest.map_structure(lambda a:a+1,__import__('collections').OrderedDict([('b',1),('a',2)]))
tf.nest.map_structure(lambda a:a+1,__import__('collections').defaultdict(list,{'b':1}))
tf.nest.flatten({'a':{}, 'b':[], 'c':()})
tf.nest.flatten({'a':1}.values())
tf.nest.flatten({'b':1,'a':2}.items())
tf.nest.flatten([tf.constant([1]), 'ab', None])
tf.nest.flatten(range(3))
tf.nest.flatten([{'x':{1:2}},])
tf.nest.map_structure(lambda *a:a,{'a':1,'b':2},{'b':3,'a':4})
tf.TensorSpec([None,2],tf.float32,'a')
tf.TensorSpec(None)
tf.TensorSpec([2],'int32')
tf.TensorSpec.from_tensor(tf.constant([1,2]))
tf.TensorSpec.from_tensor(tf.constant([1,2]),'q')
tf.TensorSpec.from_spec(tf.TensorSpec([2]),'q')
tf.TensorSpec([None],tf.int32).is_compatible_with(tf.constant([1,2]))
tf.TensorSpec([None],tf.int32).is_compatible_with(tf.constant([1.,2]))
tf.TensorSpec([None],tf.int32).is_compatible_with([1,2])
tf.TensorSpec([None],tf.int32).is_compatible_with(tf.TensorSpec([3],tf.int32))
tf.TensorSpec([None],tf.int32)==tf.TensorSpec([None],tf.int32), tf.TensorSpec([None],tf.int32)==tf.TensorSpec([None],tf.int32,'a'), tf.TensorSpec([1])!=3
tf.TensorSpec([2]).most_specific_compatible_type(tf.TensorSpec([3]))
tf.TensorSpec([2]).most_specific_compatible_type(tf.TensorSpec([3],tf.int32))
tf.TensorSpec([2],name='a').most_specific_common_supertype([tf.TensorSpec([3],name='a')])
tf.TensorSpec([2],name='a').most_specific_common_supertype([tf.TensorSpec([3,4],name='b')])
tf.TensorSpec([2],name='a').most_specific_common_supertype([tf.TensorSpec([3,4],tf.int32)])
tf.TensorSpec([None]).is_subtype_of(tf.TensorSpec([3])), tf.TensorSpec([3]).is_subtype_of(tf.TensorSpec([None]))
str(tf.TensorSpec([None],name='x'))
hash(tf.TensorSpec([None]))==hash(tf.TensorSpec([None]))
tf.TensorSpec([1], 'zz')
tf.TensorSpec.from_tensor(3)
tf.TensorSpec([2]).shape.rank, tf.TensorSpec([2]).dtype, tf.TensorSpec([2]).name
"""


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf) for e in EXPRESSIONS.strip().split("\n")]
    with open(os.path.join(HERE, "..", "python", "names.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
