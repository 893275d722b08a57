/* Sounds: WAV files to samples and back. */
#include "api/array/array.h"
#include "rows.h"

TW_API(
    audio_decode_wav,
    "audio.decode_wav(contents: tensor<string>, desired_channels: int = -1, desired_samples: int = -1, name: str = None) -> tensors<DecodeWav>",
    "The samples of a WAV file of 16 bits, as floats from -1 to 1, and how many there are in a second.\n"
    "contents: the bytes of the file\n"
    "desired_channels: how many channels the result has; -1: those of the file\n"
    "desired_samples: how many samples it has: the file is cut or filled with zeros; -1: those of the file\n"
    "returns: `audio`, [samples, channels], and `sample_rate`")
{
    return tw__call_many(&tw__op_DecodeWav, TW_IN(args->contents), 1,
                         TW_WITH(TW_A_INT("desired_channels", args->desired_channels),
                                 TW_A_INT("desired_samples", args->desired_samples)),
                         2, 2);
}
