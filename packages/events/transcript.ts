import { z } from 'zod';

/** Who speaks: the firm's operator or its client. */
export const Role = z.enum(['operator', 'client']);
export type Role = z.infer<typeof Role>;

/** ISO 639-1 codes of the supported languages. */
export const Language = z.enum(['en', 'ru', 'uz', 'ky', 'es']);
export type Language = z.infer<typeof Language>;

/** What is done with personal data in a firm's transcripts. `for_model`: it is kept from language models; `stored`: it is not stored. */
export const Redaction = z.enum(['none', 'for_model', 'stored']);
export type Redaction = z.infer<typeof Redaction>;

/** `start` and `end` are seconds from the start of the recording; null in uploaded transcripts. */
export const Utterance = z.object({
  role: Role,
  text: z.string().min(1),
  start: z.number().min(0).nullable(),
  end: z.number().min(0).nullable(),
  /** How sure the speech engine is of the words; absent where it does not tell, and in uploaded transcripts. */
  confidence: z.number().min(0).max(1).optional(),
});
export type Utterance = z.infer<typeof Utterance>;

/** A transcript that the API shows, as services pass it on: JSON without what can be told from the rest. */
export function transcriptJson(shown: object): string {
  return JSON.stringify(shown, (name, value: unknown) =>
    name === 'index' || name === 'doubtful' || (name === 'confidence' && value === null) ? undefined : value,
  );
}

/** Below it most words are wrong, above it one in six (docs/performance.md, "Confidence"). Whisper gives a text up under 0.37. */
const DOUBTFUL_BELOW = 0.5;

export function isDoubtful({ confidence }: { readonly confidence?: number | null | undefined }): boolean {
  return typeof confidence === 'number' && confidence < DOUBTFUL_BELOW;
}
