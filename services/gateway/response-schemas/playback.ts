import { z } from 'zod';
import { Time } from './fields.ts';

const Peak = z.int().min(0).max(100);

/** docs/api.md, "Calls". */
export const Playback = z
  .object({
    url: z.url().meta({ description: 'A signed URL that browsers play. It supports Range.' }),
    url_expires_at: Time,
    format: z.string().meta({ description: 'The extension of the format of the bytes at the URL.' }),
    converted: z.boolean().meta({ description: 'The URL serves a copy, because browsers do not play the recording.' }),
    duration: z.number().min(0).meta({ description: 'Seconds.' }),
    peaks: z
      .object({
        per_second: z.number().positive(),
        left: z.array(Peak).meta({ description: 'The largest amplitude of each span, from 0 to 100.' }),
        right: z.array(Peak),
      })
      .meta({ id: 'Peaks' }),
  })
  .meta({
    id: 'Playback',
    examples: [
      {
        url: 'http://127.0.0.1:8080/objects/playback/1a2b3c4d/019a4f3e.wav?signature=x',
        url_expires_at: '2026-10-01T19:00:00.000Z',
        format: 'wav',
        converted: true,
        duration: 0.2,
        peaks: { per_second: 20, left: [0, 12, 40, 3], right: [2, 0, 0, 31] },
      },
    ],
  });
