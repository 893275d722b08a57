/* keras.mixed_precision: what layers compute in and what their variables are.
 *
 * A policy is a dtype for both, or one of the two mixed ones: variables of 32 bits, computations in 16. Layers that are told
 * nothing have the global policy. A variable of a mixed layer is read as the layer computes while its call runs
 * (tw__variable_read), so gradients and optimizers see the one of 32 bits. */
#include "keras/keras.h"
#include "rows.h"
#include "spec/spec.h"

struct tw_policy {
    tw_object object;
    tw_dtype code;
};

static _Atomic int global_policy; /* 0: none was set */

tw_dtype tw__global_policy(void)
{
    return global_policy ? (tw_dtype)global_policy : tw__floatx() == TW_FLOAT32 ? TW_DTYPE_NONE : tw__floatx();
}

tw_dtype tw__policy_compute(tw_dtype policy)
{
    return policy == TW_MIXED_FLOAT16 ? TW_FLOAT16 : policy == TW_MIXED_BFLOAT16 ? TW_BFLOAT16 : policy ? policy : TW_FLOAT32;
}

tw_dtype tw__layer_policy(const tw_layer *layer)
{
    if (layer->compute_dtype == layer->dtype)
        return layer->dtype;
    return layer->compute_dtype == TW_BFLOAT16 ? TW_MIXED_BFLOAT16 : TW_MIXED_FLOAT16;
}

tw_value tw__policy_config(tw_dtype policy)
{
    if (!tw__policy_is_mixed(policy))
        return tw__value_str(tw_dtype_name(policy));
    tw__dict config = { 0 }, dict = { 0 };
    tw__dict_put_str(&config, "name", tw__policy_name(policy));
    tw__dict_put_str(&dict, "module", "keras.mixed_precision");
    tw__dict_put_str(&dict, "class_name", "Policy");
    tw__dict_put(&dict, "config", tw__dict_take(&config));
    tw__dict_put_str(&dict, "registered_name", NULL);
    return tw__dict_take(&dict);
}

/* ---- objects ---- */

static tw_status code_of(const tw_value *name, tw_dtype *code)
{
    if (name->kind == TW_VALUE_DTYPE)
        return tw__fail(TW_TYPE_ERROR, "'name' must be a string, not a DType. Instead, pass DType.name. Received: name=%s",
                        tw_dtype_name(name->dtype));
    if (name->kind != TW_VALUE_STR || !name->s.data)
        return name->kind == TW_VALUE_INT ? tw__fail(TW_TYPE_ERROR, "'name' must be a string, but got: %lld", (long long)name->i)
                                          : tw__fail(TW_TYPE_ERROR, "'name' must be a string, but got: %s",
                                                     name->kind == TW_VALUE_NONE ? "None" : "another value");
    *code = tw__policy_from_name(name->s.data);
    return *code ? TW_OK
                 : tw__fail(TW_VALUE_ERROR,
                            "Cannot convert value %s to a mixed precision Policy. Valid policies include 'mixed_float16', "
                            "'mixed_bfloat16', and the name of any dtype such as 'float32'.",
                            name->s.data);
}

static tw_status policy_init(void *self, const void *given)
{
    return code_of(&((const tw_policy_args *)given)->name, &((tw_policy *)self)->code);
}

TW_CLASS(policy, "keras.mixed_precision.Policy(name: value)", .size = sizeof(tw_policy), .init = policy_init,
         .doc = "What layers compute in and what their variables are.\n"
                "name: `mixed_float16`, `mixed_bfloat16`, or the name of a dtype\n"
                "example: tf.keras.mixed_precision.Policy('mixed_float16').variable_dtype  # 'float32'");

tw_dtype tw__policy_code(const void *object)
{
    return tw__is(object, &tw__class_policy) ? ((const tw_policy *)object)->code : TW_DTYPE_NONE;
}

static tw_policy *policy_of(tw_dtype code)
{
    tw_policy_args args;
    tw_args_default(&tw__signature_policy, &args);
    tw__auto(tw_value_free) tw_value name = tw__value_str(tw__policy_name(code));
    args.name = name;
    return name.kind == TW_VALUE_STR ? tw_class_make(&tw__class_policy, &args) : NULL;
}

TW_PROPERTY(policy_name, "keras.mixed_precision.Policy.name(self: policy) -> str", "The name.")
{
    return tw__strdup(tw__policy_name(args->self->code));
}

TW_PROPERTY(policy_compute_dtype, "keras.mixed_precision.Policy.compute_dtype(self: policy) -> str", "What layers compute in.")
{
    return tw__strdup(tw_dtype_name(tw__policy_compute(args->self->code)));
}

TW_PROPERTY(policy_variable_dtype, "keras.mixed_precision.Policy.variable_dtype(self: policy) -> str",
            "The dtype of layers' variables.")
{
    tw_dtype code = args->self->code;
    return tw__strdup(tw_dtype_name(tw__policy_is_mixed(code) ? TW_FLOAT32 : code));
}

TW_METHOD(policy_get_config, "keras.mixed_precision.Policy.get_config(self: policy) -> value",
          "The arguments that would make the same policy again.")
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", tw__policy_name(args->self->code));
    return tw__dict_take(&dict);
}

TW_METHOD(policy_repr, "keras.mixed_precision.Policy.__repr__(self: policy) -> str", "The policy as text.")
{
    return tw__format("<Policy \"%s\">", tw__policy_name(args->self->code));
}

/* ---- the global one ---- */

TW_API(keras_global_policy, "keras.mixed_precision.global_policy() -> policy", "The policy of layers that are told none.")
{
    tw_dtype code = tw__global_policy();
    return policy_of(code ? code : TW_FLOAT32);
}

TW_API(keras_set_global_policy, "keras.mixed_precision.set_global_policy(policy: value)",
       "Sets the policy of layers that are made from now on and told none.\n"
       "policy: a `Policy` or its name, such as `mixed_float16`; None: float32")
{
    const tw_value *given = &args->policy;
    tw_dtype code = given->kind == TW_VALUE_OBJECT ? tw__policy_code(given->object) : TW_DTYPE_NONE;
    if (!code && given->kind != TW_VALUE_NONE)
        TW_TRY(code_of(given, &code));
    if (code && !tw__dtype_is_float(tw__policy_compute(code)))
        return tw__fail(TW_VALUE_ERROR,
                        "set_global_policy can only be used to set the global policy to floating-point policies, such as "
                        "\"float32\" and \"mixed_float16\", but got policy: %s",
                        tw__policy_name(code));
    global_policy = (int)code;
    return TW_OK;
}

TW_PROPERTY(layer_dtype_policy, "keras.layers.Layer.dtype_policy(self: layer) -> policy",
            "What the layer computes in and what its variables are.")
{
    return policy_of(tw__layer_policy(args->self));
}

TW_PROPERTY(layer_compute_dtype, "keras.layers.Layer.compute_dtype(self: layer) -> str",
            "What the layer computes in: inputs are cast to it, and variables when they are read.")
{
    return tw__strdup(tw_dtype_name(args->self->compute_dtype));
}
