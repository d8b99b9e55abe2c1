/** Tokens per UTF-16 unit, as usual tokenizers have them: on the high side, so that a request fits. */
const PER_ASCII = 0.3;
const PER_OTHER = 0.5;

/** About how many tokens a text has. A tokenizer would know one model only. */
export function estimateTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) others += 1;
  return Math.ceil((text.length - others) * PER_ASCII + others * PER_OTHER);
}
