/* thalweg: TensorFlow 2 as a small C library. Include this one header. */
#ifndef THALWEG_THALWEG_H
#define THALWEG_THALWEG_H

#include <thalweg/base.h>
#include <thalweg/arrays.h>
#include <thalweg/tensor.h>
#include <thalweg/literal.h>
#include <thalweg/describe.h>
#include <thalweg/distribute.h>
#include <thalweg/api.h>
#include <thalweg/op.h>
#include <thalweg/keras.h>
#include <thalweg/own.h>
#include <thalweg/records.h>
#include <thalweg/events.h>
#include <thalweg/saving.h>
#include <thalweg/graph.h>
#include <thalweg/function.h>
#include <thalweg/generator.h>
#include <thalweg/gradient.h>
#include <thalweg/profile.h>
#include <thalweg/session.h>
#include <thalweg/trace.h>

#endif
