import { createSecretKey, type KeyObject } from 'node:crypto';
import { ConfigFault, type Environment, parseConfig } from '@call-analysis/runtime';
import { z } from 'zod';

/** The keys of an installation by id. They encrypt nothing but data keys. */
export interface EncryptionKeys {
  /** The id of the first key of the file, which encrypts new data keys. */
  readonly current: string;
  readonly byId: ReadonlyMap<string, KeyObject>;
}

const KEY_BYTES = 32;
const ID = /^[\w.-]{1,32}$/;

export const EncryptionVariables = z.object({
  ENCRYPTION_KEY: z.string().optional().meta({
    secret: true,
    defaultText: 'nothing is encrypted',
    description:
      'Encrypts stored recordings and conversation texts; see docs/operations.md, "Encryption at rest". One key a line (or with commas between them), `id:` and 32 bytes in base64; the first one is used, the others are for older data. It costs 0.1 s of processor time for 50 MB stored, 0.2 s read, and 8 µs a transcript.',
  }),
});

/** Undefined when nothing is to be encrypted. ConfigFault for a key that cannot be used. */
export function encryptionKeysFrom(env: Environment): EncryptionKeys | undefined {
  const { ENCRYPTION_KEY: text } = parseConfig(EncryptionVariables, env);
  return text === undefined ? undefined : parseKeys(text);
}

function parseKeys(text: string): EncryptionKeys {
  const byId = new Map<string, KeyObject>();
  const lines = text.split(/\r?\n|,/).map((line) => line.trim());
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const at = line.indexOf(':');
    const id = line.slice(0, Math.max(at, 0));
    const bytes = Buffer.from(line.slice(at + 1).trim(), 'base64');
    if (!ID.test(id) || bytes.length !== KEY_BYTES) {
      throw refused(
        `line ${index + 1} is not an id, a colon and 32 bytes in base64. Make a key with: echo "2026-11:$(openssl rand -base64 32)"`,
      );
    }
    if (byId.has(id)) throw refused(`line ${index + 1} has the id ${id} again. Give each key an id of its own.`);
    byId.set(id, createSecretKey(bytes));
    bytes.fill(0);
  }
  const [current] = byId.keys();
  if (current === undefined) throw refused('it holds no key. Make one with: echo "2026-11:$(openssl rand -base64 32)"');
  return { current, byId };
}

function refused(why: string): ConfigFault {
  return new ConfigFault(`ENCRYPTION_KEY or ENCRYPTION_KEY_FILE cannot be used: ${why}`);
}
