/**
 * Runs Schemathesis (https://schemathesis.io) on a new service: thousands of valid and invalid requests, generated from the
 * OpenAPI document. Fails on a server error, and on a response that the document does not describe.
 *
 *   node scripts/schemathesis.ts DIR [EXAMPLES]
 *
 * Installs Schemathesis from PyPI into DIR, a virtual environment that is created if needed (python3 with venv). EXAMPLES
 * is the number of generated requests per endpoint and phase.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newFirm } from '../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../deploy/standalone/test/system/service-process.ts';

const VERSION = '4.32.5';
/** Deletes the key that other requests use, so it is tested separately, at the end. */
const LAST = 'deleteApiKey';

const [directory, examples = '10'] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/schemathesis.ts DIR [EXAMPLES]');
  process.exit(2);
}
const program = resolve(directory, 'bin', 'schemathesis');
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
      // It writes its folder .schemathesis here, which is removed with the data directory.
      cwd: service.directory,
      stdio: 'inherit',
    });
    const [code] = (await once(run, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  // Only warnings and errors are logged. There should be none.
  console.error(service.stderr());
  await service.stop();
}

/** One user for every endpoint, except those that need another role. */
function settings(admin: string, superuser: string, apiKey: string): string {
  const bearer = (token: string) => JSON.stringify(`Bearer ${token}`);
  return `
workers = 2
# An inactive campaign gets 409 and an outdated revision gets 412, whatever else is wrong with the request.
checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, 406, 409, 412, 413, 422, 428]
checks.missing_required_header.expected-statuses = [400, 401, 403, 406, 415, 422, 428]

[auth.openapi.bearer]
bearer = ${JSON.stringify(admin)}

[auth.openapi.api-key]
api_key = ${JSON.stringify(apiKey)}

[[operations]]
include-path-regex = "^/external/api/v1/api-key"
headers = { Authorization = ${bearer(superuser)} }

# Rules that a schema cannot express: a file must have been put, a name must end like the recording's, one date must follow
# the other or lie in the future, a phrase must be well-formed, a cursor excludes a page, a scorecard must be in force, a
# webhook's URL must lead to a public address, a time zone must exist, an ADMIN manages users of that role alone, a
# message of the Model Context Protocol has a method that there is, a person must be a user of the firm, a question is
# answered once, a share takes the place of a count, and a view has the filters of Get Calls. Schemathesis sends If-Match
# without the quotes that its schema asks for.
[[operations]]
include-path-regex = "(process-upload|audio/upload|/call-campaign|/call-campaign/[{]uuid[}]|/scorecards.*|/calls|/calls/export|/calls/analyze|/statistics|/usage|/audit|/firm|/users.*|/webhooks.*|/mcp|/words|/review|/review-queue.*|/disputes/[{]uuid[}]|/sampling-rules.*|/views.*|/calibrations.*|/comments|/assignment|/external/api/v1/api-key)$"
checks.positive_data_acceptance.enabled = false

# A message of the Model Context Protocol that is refused is answered in that protocol's form.
[[operations]]
include-path-regex = "^/mcp$"
checks.positive_data_acceptance.enabled = false
checks.response_schema_conformance.enabled = false
`;
}
