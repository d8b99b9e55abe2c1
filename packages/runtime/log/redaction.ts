export const REDACTED = '[redacted]';

/**
 * Whether a field of this name holds a secret, in any spelling: `x-service-api-key`, `apiKey`, `S3_SECRET_KEY`.
 * A second line of defence: the first is not to log secrets.
 */
export function isSecretName(name: string): boolean {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const isSecret = /(authorization|cookie|apikey|token|password|secret|secretkey|pepper|signature)$/.test(
    name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
  );
  if (cache.size < MAX_CACHED) cache.set(name, isSecret);
  return isSecret;
}

/** Field names come from the source code: the same few in every line. */
const cache = new Map<string, boolean>();
const MAX_CACHED = 1000;

/** The text without signatures of presigned URLs, passwords of connection URLs, bearer tokens and API keys. */
export function redactText(text: string): string {
  if (!/[=@$]|bearer/i.test(text)) return text;
  return text
    .replaceAll(/([?&](?:x-amz-)?(?:signature|token)=)[^&\s"'<>]+/gi, `$1${REDACTED}`)
    .replaceAll(/(:\/\/[^\s:/?#@]*:)[^\s/?#]+@/g, `$1${REDACTED}@`)
    .replaceAll(/\b(Bearer)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/\b([0-9a-z]{7}\$)[0-9A-Za-z]{43}/g, `$1${REDACTED}`);
}
