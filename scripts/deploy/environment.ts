import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVariables } from '../../packages/runtime/index.ts';

export const services = readdirSync('services').toSorted();

interface Reads {
  readonly variables: Parameters<typeof describeVariables>[0];
  readonly readConfig: (env: Readonly<Record<string, string>>) => unknown;
}

/** The variables that Node reads. */
const ofNode = new Set(['NODE_OPTIONS', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS']);

const samples: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://someone:secret@database:5432/some',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret',
  ENCRYPTION_KEY: `2026-11:${Buffer.alloc(32, 1).toString('base64')}`,
};

/**
 * The faults that a service finds in this environment: unknown variables, and values that it refuses when it starts. Files
 * that variables name are replaced by samples, because they exist only where the service runs.
 */
export async function environmentFaults(
  service: string,
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { variables, readConfig } = (await import(`../../services/${service}/config.ts`)) as Reads;
  const known = describeVariables(variables);
  const secrets = new Set(known.filter(({ secret }) => secret).map(({ name }) => name));
  const names = new Set(known.map(({ name }) => name));
  const isKnown = (name: string) =>
    names.has(name) || ofNode.has(name) || (name.endsWith('_FILE') && secrets.has(name.slice(0, -5)));
  const faults = Object.keys(environment)
    .filter((name) => !isKnown(name))
    .map((name) => `${service} does not know ${name}.`);
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const { pem, publicKey } = samplePems(folder);
    const filled = Object.entries(environment).map(([name, value]): [string, string] => {
      if (!name.endsWith('_FILE')) return [name, value];
      const secret = name.slice(0, -5);
      if (secrets.has(secret)) return [secret, samples[secret] ?? 'a-secret-of-more-than-thirty-two-bytes'];
      return [name, name === 'JWT_PUBLIC_KEY_FILE' ? publicKey : pem];
    });
    readConfig(Object.fromEntries(filled));
  } catch (error) {
    faults.push(`${service} refuses: ${(error as Error).message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return faults;
}

/** A file with a public key, and one that is valid as a certificate and as a private key. */
function samplePems(folder: string): { pem: string; publicKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const [pem, publicPem] = [join(folder, 'sample.pem'), join(folder, 'public.pem')];
  const block = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
  writeFileSync(pem, `${privateKey.export({ type: 'pkcs8', format: 'pem' })}${block}`);
  writeFileSync(publicPem, publicKey.export({ type: 'spki', format: 'pem' }));
  return { pem, publicKey: publicPem };
}
