import { z } from 'zod';

const seconds = z.number().min(0).nullable().meta({ description: 'Null in uploaded transcripts.' });

/** The transcript of a call as JSON. Other formats are files. */
export const TranscriptDocument = z
  .object({
    language: z.string().nullable(),
    engine: z.string().nullable(),
    utterances: z.array(
      z
        .object({
          index: z.int().min(0),
          role: z.enum(['operator', 'client']),
          text: z.string(),
          start: seconds,
          end: seconds,
        })
        .meta({ id: 'TranscriptUtterance' }),
    ),
  })
  .meta({
    id: 'TranscriptDocument',
    examples: [
      {
        language: 'en',
        engine: 'moonshine-tiny',
        utterances: [{ index: 0, role: 'operator', text: 'Good morning.', start: 0.4, end: 1.2 }],
      },
    ],
  });
