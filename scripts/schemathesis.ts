/**
 * Lets Schemathesis (https://schemathesis.io) loose on a service of its own: requests by the thousand, made from the
 * OpenAPI document, good and bad. It fails on a server error, and on an answer that the document does not speak of.
 *
 *   node scripts/schemathesis.ts DIR [EXAMPLES]
 *
 * Schemathesis comes from PyPI into DIR, a virtual environment that is made when it is not there (python3 with venv).
 * EXAMPLES is how many requests are made up for each endpoint and phase.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newFirm } from '../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../deploy/standalone/test/system/service-process.ts';

const VERSION = '4.32.5';
/** Kills the key that other endpoints are asked with, so it is asked by itself, at the end. */
const LAST = 'deleteAnApiKey';

const [directory, examples = '10'] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/schemathesis.ts DIR [EXAMPLES]');
  process.exit(2);
}
const program = join(directory, 'bin', 'schemathesis');
if (!existsSync(program)) {
  execFileSync('python3', ['-m', 'venv', directory], { stdio: 'inherit' });
  execFileSync(join(directory, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`], { stdio: 'inherit' });
}

const service = await startService(mkdtempSync(join(tmpdir(), 'call-analysis-api-')));
try {
  const firm = await newFirm(service, { role: 'ADMIN' });
  const head = await newFirm(service, { role: 'SUPERUSER', firm: firm.firmUuid });
  const { api_key } = await head.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
    firm_uuid: firm.firmUuid,
  });
  const configuration = join(service.directory, 'schemathesis.toml');
  writeFileSync(configuration, settings(firm.token, head.token, api_key));
  for (const which of [`--exclude-operation-id=${LAST}`, `--include-operation-id=${LAST}`]) {
    const options = ['--max-examples', examples, '--seed', '1', which];
    const run = spawn(program, ['--config-file', configuration, 'run', `${service.url}/openapi.json`, ...options], {
      stdio: 'inherit',
    });
    const [code] = (await once(run, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  // Warnings and errors alone are written; there should be none.
  console.error(service.stderr());
  await service.stop();
}

/** One caller for every endpoint but those that only another role may use. */
function settings(admin: string, superuser: string, apiKey: string): string {
  const bearer = (token: string) => JSON.stringify(`Bearer ${token}`);
  return `
workers = 2
# A campaign that is not active is 409 and a revision that is not the newest 412, whatever else is wrong with the request.
checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, 406, 409, 412, 413, 422, 428]

[auth.openapi.bearer]
bearer = ${JSON.stringify(admin)}

[auth.openapi.api-key]
api_key = ${JSON.stringify(apiKey)}

[[operations]]
include-path-regex = "^/external/api/v1/api-key"
headers = { Authorization = ${bearer(superuser)} }

# What no schema can say: a file must have been put, a name end like the recording's, one date follow the other, a phrase be
# well-formed, and a cursor stand without a page.
[[operations]]
include-path-regex = "(process-upload|audio/upload|/call-campaign|/call-campaign/[{]uuid[}]|/scorecards.*|/calls)$"
checks.positive_data_acceptance.enabled = false
`;
}
