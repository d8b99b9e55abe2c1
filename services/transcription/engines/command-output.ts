import { z } from 'zod';

const Segment = z.object({ start: z.number(), end: z.number(), text: z.string() });

const Output = z
  .object({
    text: z.string().nullish(),
    language: z.string().nullish(),
    segments: z.array(Segment).max(5000).nullish(),
  })
  .refine(({ text, segments }) => typeof text === 'string' || Array.isArray(segments));

export interface SpokenOutput {
  readonly text: string;
  readonly segments: readonly z.infer<typeof Segment>[] | null;
  readonly language: string | null;
}

/** What a speech program has printed: JSON, or bare text. Null when it begins like JSON and is not of the agreed shape. */
export function readOutput(printed: string): SpokenOutput | null {
  const text = printed.replace(/^\uFEFF/, '').trim();
  // A recogniser may print `{noise}`, but nothing except JSON has a quote or its end behind the brace.
  if (!/^\{\s*["}]/.test(text)) return { text, segments: null, language: null };
  try {
    const output = Output.safeParse(JSON.parse(text)).data;
    if (output === undefined) return null;
    return { text: output.text ?? '', segments: output.segments ?? null, language: output.language ?? null };
  } catch {
    return null;
  }
}
