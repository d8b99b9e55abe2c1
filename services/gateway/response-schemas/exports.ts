import { z } from 'zod';
import { Utterance } from './calls.ts';

/** The transcript of a call as JSON. Other formats are files. */
export const TranscriptDocument = z
  .object({
    language: z.string().nullable(),
    engine: z.string().nullable(),
    utterances: z.array(Utterance),
  })
  .meta({
    id: 'TranscriptDocument',
    examples: [
      {
        language: 'en',
        engine: 'moonshine-tiny',
        utterances: [
          {
            index: 0,
            role: 'operator',
            text: 'Good morning.',
            start: 0.4,
            end: 1.2,
            confidence: null,
            doubtful: false,
          },
        ],
      },
    ],
  });
