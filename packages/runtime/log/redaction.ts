export const REDACTED = '[redacted]';

/**
 * Whether a field of this name holds a secret, in any spelling: `x-service-api-key`, `apiKey`, `S3_SECRET_KEY`.
 * A second line of defence: the first is not to log secrets.
 */
export function isSecretName(name: string): boolean {
  return /(authorization|cookie|apikey|token|password|secret|secretkey|pepper|signature)$/.test(
    name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
  );
}

/** The text without signatures of presigned URLs, passwords of connection URLs, bearer tokens and API keys. */
export function redactText(text: string): string {
  if (!/[=@$]|bearer/i.test(text)) return text;
  return text
    .replaceAll(/([?&](?:x-amz-)?(?:signature|token)=)[^&\s"'<>]+/gi, `$1${REDACTED}`)
    .replaceAll(/(:\/\/[^\s:/?#@]*:)[^\s/?#]+@/g, `$1${REDACTED}@`)
    .replaceAll(/\b(Bearer)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/\b([0-9a-z]{7}\$)[0-9A-Za-z]{43}/g, `$1${REDACTED}`);
}
