/* The layers that look words or integers up in a vocabulary: StringLookup, IntegerLookup, and TextVectorization, which holds a
 * StringLookup. */
#ifndef TW_LAYERS_LOOKUP_H
#define TW_LAYERS_LOOKUP_H

#include "keras/layers/preprocessing/encode.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "lookup/lookup.h"

typedef struct tw__lookup_layer {
    tw__preprocessing base;
    tw__output_mode mode;
    tw_dtype word_dtype;               /* of the vocabulary */
    tw_dtype number_dtype;             /* of places in it */
    tw_tensor *mask_key, *mask_value;  /* what stands for nothing, and what it becomes; NULL: nothing does */
    struct tw_lookup_table *table;     /* a child, "lookup_table" */
    struct tw_lookup_table *counts;    /* of words that adapt has seen: a child, "token_counts"; NULL: the vocabulary was given */
    struct tw_lookup_table *documents; /* of TF_IDF: in how many documents; a child, "token_document_counts" */
    tw_variable *idf, *document_count; /* of TF_IDF; children */
    int64_t size;                      /* of the vocabulary, once it is known; -1 before */
    bool given;                        /* the vocabulary came with the arguments: there is nothing to adapt */
} tw__lookup_layer;

/* What the two classes' arguments say. */
typedef struct tw__lookup_settings {
    int64_t max_tokens, oov_indices; /* max_tokens: TW_NO_INT for any number */
    tw_value mask, oov;              /* borrowed */
    const tw_value *vocabulary, *idf_weights;
    const char *output_mode;
    bool invert, sparse, pad;
} tw__lookup_settings;
tw__lookup_settings tw__lookup_settings_of(const tw__lookup_layer *layer);

/* The numbers that come before those of the vocabulary's words: for nothing, and for words that it has not. */
int64_t tw__lookup_oov_start(const tw__lookup_layer *layer);
int64_t tw__lookup_first(const tw__lookup_layer *layer);

/* ---- the vocabulary (vocabulary.c) ---- */
/* A list, an array or tensor of words, or the name of a file. idf_weights: of TF_IDF; a false bool: they come later. */
tw_status tw__vocabulary_set(tw__lookup_layer *layer, const tw_value *vocabulary, const tw_value *idf_weights);
/* A table of these words, which are numbered in their order. */
tw_status tw__vocabulary_make(tw__lookup_layer *layer, tw_tensor *words);
tw_status tw__vocabulary_none(tw__lookup_layer *layer);                    /* a table that is not filled yet */
tw_tensor *tw__vocabulary_words(tw__lookup_layer *layer, bool special);    /* in their order; a new reference */
int64_t tw__vocabulary_size(const tw__lookup_layer *layer);                /* with the special ones */
tw_status tw__vocabulary_settled(tw__lookup_layer *layer);                 /* its size is what it stays */
tw_status tw__vocabulary_idf(tw__lookup_layer *layer, tw_tensor *weights); /* sets them; they are cast */
/* The lookup layer that an object is, or that a TextVectorization holds; NULL: it is something else. */
tw__lookup_layer *tw__lookup_of(const void *object);
tw_status tw__lookup_refuse_h5(tw_trackable *root); /* a vocabulary that was learnt below it can't stand in such a file */
/* Words, a line each, as an asset of a file. */
tw_status tw__vocabulary_text(tw__lookup_layer *layer, tw__text *text);
tw_status tw__vocabulary_of_text(tw__lookup_layer *layer, const char *text, size_t size);
tw_status tw__vocabulary_of_table(tw__lookup_layer *layer, const struct tw_lookup_table *table); /* of a SavedModel */
/* Words as a list of texts, numbers as a list of numbers; a list, the name of a file or None as it is. */
tw_value tw__vocabulary_value(const tw_value *given);
/* Takes what is no argument out of a config: the vocabulary's size (-1: not said), and whether it was given. */
void tw__lookup_drop_state(tw_value *config, int64_t *size, bool *given);

#endif
