import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const stretch = promisify(pbkdf2);

const iterations = 4096;

/**
 * The SCRAM verifier that PostgreSQL stores for a password (RFC 5803). It is computed here, so that the password itself is
 * in no statement and therefore in no log of the server.
 */
export async function scramVerifier(password: string, salt = randomBytes(16), rounds = iterations): Promise<string> {
  // RFC 4013 requires other characters to be normalised first, which not every client does.
  if (!/^[\x20-\x7e]+$/.test(password)) throw new Error('A database password must consist of printable ASCII.');
  const salted = await stretch(password, salt, rounds, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

export async function verifies(verifier: string, password: string): Promise<boolean> {
  const [, rounds, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(verifier) ?? [];
  if (rounds === undefined || salt === undefined) return false;
  const expected = Buffer.from(await scramVerifier(password, Buffer.from(salt, 'base64'), Number(rounds)));
  const actual = Buffer.from(verifier);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
