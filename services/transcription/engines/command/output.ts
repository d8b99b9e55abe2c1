import { z } from 'zod';

/** `confidence`: 0 to 1. */
const OutputSegment = z.object({
  start: z.number(),
  end: z.number(),
  text: z.string(),
  confidence: z.number().optional(),
});

const Output = z
  .object({
    text: z.string().nullish(),
    language: z.string().nullish(),
    segments: z.array(OutputSegment).max(5000).nullish(),
  })
  .refine(({ text, segments }) => typeof text === 'string' || Array.isArray(segments));

interface ProgramOutput {
  readonly text: string;
  readonly segments: readonly z.infer<typeof OutputSegment>[] | null;
  readonly language: string | null;
}

/** Reads JSON or plain text. Null when the text begins like JSON and is not of the expected shape. */
export function readOutput(printed: string): ProgramOutput | null {
  const text = printed.replace(/^\uFEFF/, '').trim();
  // A recognizer may print `{noise}`, but only in JSON is a brace followed by a quote or a closing brace.
  if (!/^\{\s*["}]/.test(text)) return { text, segments: null, language: null };
  try {
    const output = Output.safeParse(JSON.parse(text)).data;
    if (output === undefined) return null;
    return { text: output.text ?? '', segments: output.segments ?? null, language: output.language ?? null };
  } catch {
    return null;
  }
}
