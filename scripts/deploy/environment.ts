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
    const pem = samplePem(folder);
    const filled = Object.entries(environment).map(([name, value]): [string, string] => {
      if (!name.endsWith('_FILE')) return [name, value];
      const secret = name.slice(0, -5);
      return secrets.has(secret) ? [secret, samples[secret] ?? 'a-secret-of-more-than-thirty-two-bytes'] : [name, pem];
    });
    readConfig(Object.fromEntries(filled));
  } catch (error) {
    faults.push(`${service} refuses: ${(error as Error).message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return faults;
}

/** A file that is valid as a certificate, as a private key and as a public key. */
function samplePem(folder: string): string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const path = join(folder, 'sample.pem');
  const block = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
  writeFileSync(
    path,
    `${publicKey.export({ type: 'spki', format: 'pem' })}${privateKey.export({ type: 'pkcs8', format: 'pem' })}${block}`,
  );
  return path;
}
