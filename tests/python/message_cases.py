"""What is done with the messages of tf.train: examples and their parts. results(tf) gives a text for each case: the value, the message's text and bytes, or
the exception's class. tests/golden/message_cases.py asks TensorFlow, test_example_messages.py compares."""
# ruff: noqa
import copy
import pickle

import numpy as np


def results(tf):
    T, out = tf.train, {}

    def t(name, make):
        assert name not in out
        try:
            made = make()
            out[name] = repr((str(made), made.SerializeToString(deterministic=True).hex()) if hasattr(made, "SerializeToString") else made)
        except Exception as error:
            out[name] = type(error).__name__

    F=lambda **k: T.Feature(**k)
    def oneof():
        f=T.Feature(); f.bytes_list.value.append(b'x'); f.int64_list.value.append(1); return (f.WhichOneof('kind'), f.HasField('bytes_list'), str(f))
    def oneof2():
        f=T.Feature(int64_list=T.Int64List(value=[1])); f.bytes_list.value[:]; return f.WhichOneof('kind')
    def oneof3():
        f=T.Feature(int64_list=T.Int64List(value=[1])); f.float_list.CopyFrom(T.FloatList(value=[.1])); return f
    def alias():
        b=T.BytesList(value=[b'a']); f=T.Feature(bytes_list=b); b.value.append(b'b'); return f
    def alias2():
        e=T.Example(); x=e.features.feature['a']; x.int64_list.value.append(3); return e
    def mapget():
        e=T.Example(); return ('a' in e.features.feature, len(e.features.feature), e.features.feature['a'].WhichOneof('kind'), 'a' in e.features.feature, e.features.feature.get('b'))
    def mapset():
        e=T.Example(); e.features.feature['a']=T.Feature()
    def fl(v): return lambda: T.FloatList(value=v)
    t('float',fl([0.1,1,-2.5,1e39,float('nan'),True]))
    t('float np',fl(np.array([0.1,2.5])))
    t('float np32',fl(np.array([0.1,2.5],'float32')))
    t('float scalar',fl([np.float32(.1),np.int64(3)]))
    t('float str',fl(['a']))
    t('float one',fl(3.0))
    t('int',lambda: T.Int64List(value=[1,-1,2**63-1,-2**63]))
    t('int big',lambda: T.Int64List(value=[2**63]))
    t('int float',lambda: T.Int64List(value=[1.0]))
    t('int np',lambda: T.Int64List(value=np.array([1,2],'int32')))
    t('int bool',lambda: T.Int64List(value=[True,np.bool_(True)]))
    t('int tensor',lambda: T.Int64List(value=[tf.constant(3)]))
    t('bytes str',lambda: T.BytesList(value=['a']))
    t('bytes',lambda: T.BytesList(value=[b'a',b'\xff\n']))
    t('bytes itself',lambda: T.BytesList(value=b'ab'))
    t('bytes none',lambda: T.BytesList(value=[None]))
    t('bytes bytearray',lambda: T.BytesList(value=[bytearray(b'a')]))
    t('bytes npbytes',lambda: T.BytesList(value=[np.bytes_(b'a')]))
    t('bytes nparr',lambda: T.BytesList(value=np.array([b'a',b'bc'])))
    t('bytes tensor',lambda: T.BytesList(value=[tf.constant(b'a').numpy()]))
    t('none',lambda: T.BytesList(value=None))
    t('wrong child',lambda: F(bytes_list=T.Int64List()))
    t('dict child',lambda: F(bytes_list={'value':[b'a']}))
    t('empty child',lambda: F(bytes_list=T.BytesList()))
    t('unknown',lambda: F(x=1))
    t('positional',lambda: T.Feature(1))
    t('oneof',oneof); t('oneof2',oneof2); t('oneof3',oneof3); t('alias',alias); t('alias2',alias2); t('mapget',mapget); t('mapset',mapset)
    e=T.Example(features=T.Features(feature={'b':F(bytes_list=T.BytesList(value=[b'x'])),'a':F(int64_list=T.Int64List(value=[1,2])),'c':F(float_list=T.FloatList(value=[.5]))}))
    t('example',lambda: e)
    t('ser',lambda: e.SerializeToString(deterministic=True).hex())
    t('eq',lambda: (e==T.Example.FromString(e.SerializeToString()), e!=T.Example(), e==1))
    t('listfields',lambda: [(d.name,type(v).__name__ ) for d,v in e.ListFields()])
    t('hasfield',lambda: (e.HasField('features'), T.Example().HasField('features')))
    t('hasfield2',lambda: e.HasField('x'))
    t('hasfield3',lambda: T.BytesList().HasField('value'))
    t('which',lambda: T.Feature().WhichOneof('kind'))
    t('which2',lambda: T.Feature().WhichOneof('x'))
    t('bad parse',lambda: T.Example.FromString(b'\xff\xff'))
    t('parse type',lambda: T.Example.FromString('abc'))
    t('parse ret',lambda: T.Example().ParseFromString(e.SerializeToString())==len(e.SerializeToString()))
    t('merge',lambda: (lambda m: (m.MergeFrom(e), m.MergeFrom(T.Example(features=T.Features(feature={'a':F(int64_list=T.Int64List(value=[9]))}))), m)[-1])(T.Example()))
    t('merge list',lambda: (lambda m: (m.MergeFrom(T.Int64List(value=[2])), m)[-1])(T.Int64List(value=[1])))
    t('copyfrom wrong',lambda: e.CopyFrom(T.Features()))
    t('hash',lambda: hash(e))
    t('clear',lambda: (lambda m:(m.CopyFrom(e), m.Clear(), m.ByteSize())[-1])(T.Example()))
    t('clearfield',lambda: (lambda m:(m.CopyFrom(e), m.ClearField('features'), m.ByteSize())[-1])(T.Example()))
    t('assign',lambda: setattr(e,'features',T.Features()))
    t('assign2',lambda: setattr(T.BytesList(),'value',[b'a']))
    t('setattr',lambda: setattr(e,'x',1))
    t('getattr',lambda: e.x)
    v=T.Int64List(value=[3,1,2]).value
    t('list eq',lambda: (v==[3,1,2], list(v), v[1], v[-1], v[0:2], len(v), 3 in v))
    t('list repr',lambda: repr(v))
    def lm():
        m=T.Int64List(value=[3,1,2]); m.value.sort(); m.value.insert(0,7); m.value.remove(1); m.value.pop(); m.value.reverse(); m.value[0]=5; m.value.extend((8,9)); del m.value[0]; return m
    t('list ops',lm)
    t('list set bad',lambda: v.__setitem__(0,'a'))
    t('list append bad',lambda: v.append(1.5))
    t('list append',lambda: v.append([1]))
    s=T.SequenceExample(context=T.Features(feature={'n':F(int64_list=T.Int64List(value=[1]))}), feature_lists=T.FeatureLists(feature_list={'w':T.FeatureList(feature=[F(bytes_list=T.BytesList(value=[b'x'])),F(bytes_list=T.BytesList(value=[b'y']))])}))
    t('seq',lambda: s)
    t('seq add',lambda: (lambda m:(m.feature_lists.feature_list['q'].feature.add().int64_list.value.append(3), m)[-1])(T.SequenceExample()))
    t('empty feature in map',lambda: T.Features(feature={'a':T.Feature()}))
    t('map key type',lambda: T.Features(feature={1:T.Feature()}))
    t('map bytes key',lambda: T.Features(feature={b'a':T.Feature()}))
    t('map value type',lambda: T.Features(feature={'a':T.BytesList()}))
    t('features list',lambda: T.Features(feature=[1]))
    t('unicode key',lambda: T.Features(feature={'\u00e9':F(bytes_list=T.BytesList(value=[b'\xc3\xa9']))}))
    def ext():
        m=T.Int64List(value=[1])
        try: m.value.extend([2,'x'])
        except TypeError: pass
        return list(m.value)
    t('extend atom',ext)
    def other():
        m=T.FeatureList(); f=F(int64_list=T.Int64List(value=[1])); m.feature.append(f); f.int64_list.value.append(2); return m
    t('append copy',other)
    t('mapdel',lambda: (lambda m:(m.feature.pop('a'), sorted(m.feature), m.feature.__contains__('b')))(T.Features(feature={'a':T.Feature(),'b':T.Feature()})))
    t('mapdel2',lambda: (lambda m:(m.feature.__delitem__('a'), sorted(m.feature)))(T.Features(feature={'a':T.Feature(),'b':T.Feature()})))
    t('map clear',lambda: (lambda m:(m.feature.clear(), m.ByteSize())[-1])(T.Features(feature={'a':T.Feature(),'b':T.Feature()})))
    t('isinit',lambda: e.IsInitialized())
    t('fieldnames',lambda: sorted(T.Feature.DESCRIPTOR.fields_by_name))
    t('fullname',lambda: T.Feature.DESCRIPTOR.full_name)
    t('copy',lambda: copy.deepcopy(e)==e)
    t('pickle',lambda: pickle.loads(pickle.dumps(e))==e)
    t('bytesize', lambda: e.ByteSize())
    t('int32 neg', lambda: T.Feature.FromString(bytes.fromhex('1a040a02ff01')))
    t('unpacked', lambda: T.Int64List.FromString(bytes.fromhex('08010802')))
    t('unpackedf', lambda: T.FloatList.FromString(bytes.fromhex('0d0000803f')))
    t('unknown field', lambda: T.Int64List.FromString(bytes.fromhex('0a0101f80701')).SerializeToString().hex())
    t('twice oneof', lambda: T.Feature.FromString(bytes.fromhex('0a030a01611a030a0101')))
    return out
