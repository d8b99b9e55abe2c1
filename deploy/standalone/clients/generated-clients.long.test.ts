import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Batch, newFirm, type Client as User } from '../test/client/new-firm.ts';
import { eventually } from '../test/client/retry.ts';
import { csvOf } from '../test/client/valid-uploads.ts';
import { type ServiceProcess, startService } from '../test/system/service-process.ts';

const GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';
const GIVE_UP_MS = 30 * 60_000;

const python = `
import json, sys
from uuid import UUID
import call_analysis as client

url, token, call_uuid, scorecard_uuid = sys.argv[1:]
with client.ApiClient(client.Configuration(host=url, access_token=token)) as api:
    calls = client.CallsApi(api)
    call = calls.get_call(UUID(call_uuid))
    page = calls.list_calls(status=['completed'], size=1)
    scorecard = client.ScorecardsApi(api).get_scorecard(UUID(scorecard_uuid))
    export = calls.export_calls(format='csv')
    try:
        calls.get_call(UUID(int=0))
    except client.exceptions.NotFoundException as error:
        refusal = json.loads(error.body)['code']
print(json.dumps([call.score, call.transcript.utterances[0].role, page.count, len(scorecard.sections) > 0, len(export) > 100, refusal]))
`;

const java = `
import callanalysis.*;
import callanalysis.api.*;
import callanalysis.model.*;
import java.util.UUID;

public class Main {
  public static void main(String[] given) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(given[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + given[1]));
    CallDetail call = new CallsApi(client).getCall(UUID.fromString(given[2]), null);
    Scorecard scorecard = new ScorecardsApi(client).getScorecard(UUID.fromString(given[3]), null);
    String refusal = "";
    try {
      new CallsApi(client).getCall(new UUID(0, 0), null);
    } catch (ApiException error) {
      refusal = error.getCode() + "";
    }
    System.out.println("[" + call.getScore() + ",\\"" + call.getTranscript().getUtterances().get(0).getRole() + "\\","
      + (scorecard.getSections().size() > 0) + "," + refusal + "]");
  }
}
`;

let folder: string;
let service: ServiceProcess;
let user: User;
let call: { uuid: string; score: number };
let scorecard: string;

function run(command: string, args: readonly string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  }) as string;
}

function has(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A JDK, Maven and Python. What is missing comes from Debian, where this may install it. */
function installTools(): void {
  if (has('javac') && has('mvn') && has('python3')) return;
  run('apt-get', ['update', '-q']);
  run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'default-jdk-headless', 'maven', 'python3-venv']);
}

function generate(language: string, ...options: string[]): void {
  const words = ['generate', '-g', language, '-i', `${service.url}/openapi.json`, '-o', language, ...options];
  run('java', ['-jar', `openapi-generator-cli-${GENERATOR.split(':').at(-1)}.jar`, ...words]);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-clients-'));
  installTools();
  run('mvn', ['-q', '-B', `${DEPENDENCY_PLUGIN}:copy`, `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${folder}`]);
  service = await startService();
  user = await newFirm(service, { role: 'ADMIN' });
  const { data } = await user.call<{ data: { batch_id: string } }>('POST', '/api/v1/calls/process-upload', {
    metadata_key: await user.upload(csvOf([{}])),
  });
  await eventually(async () => {
    const batch = await user.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`);
    return batch.by_status['completed'] === 1;
  });
  const listed = await user.call<{ items: [{ uuid: string; score: number }] }>('GET', '/api/v1/calls');
  [call] = listed.items;
  scorecard = (await user.call<{ items: [{ uuid: string }] }>('GET', '/api/v1/scorecards')).items[0].uuid;
}, GIVE_UP_MS);
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

it(
  'openapi-generator makes a client for Python that compiles and works',
  async () => {
    generate('python', '--package-name', 'call_analysis');
    run('python3', ['-m', 'venv', 'venv']);
    run('venv/bin/pip', ['install', '--quiet', '--disable-pip-version-check', './python']);
    run('venv/bin/python', ['-W', 'error', '-m', 'compileall', '-q', 'python/call_analysis']);
    await writeFile(join(folder, 'main.py'), python);
    const said = run('venv/bin/python', ['main.py', service.url, user.token, call.uuid, scorecard]);
    expect(JSON.parse(said)).toEqual([call.score, 'operator', 1, true, true, 'NOT_FOUND']);
  },
  GIVE_UP_MS,
);

it(
  'openapi-generator makes a client for Java that compiles and works',
  async () => {
    const packages = ['api', 'model'].flatMap((each) => [`--${each}-package`, `callanalysis.${each}`]);
    generate('java', '--library', 'native', '--invoker-package', 'callanalysis', ...packages);
    const javaFolder = join(folder, 'java');
    run(
      'mvn',
      ['-q', '-B', `${DEPENDENCY_PLUGIN}:copy-dependencies`, '-DincludeScope=compile', '-DoutputDirectory=lib'],
      {
        cwd: javaFolder,
      },
    );
    await mkdir(join(javaFolder, 'out'));
    await writeFile(join(javaFolder, 'Main.java'), java);
    const sources = (await readdir(join(javaFolder, 'src/main/java'), { recursive: true }))
      .filter((name) => name.endsWith('.java'))
      .map((name) => join('src/main/java', name));
    run('javac', ['-nowarn', '-d', 'out', '-cp', 'lib/*', ...sources, 'Main.java'], { cwd: javaFolder });
    const classes = ['out', 'lib/*'].join(delimiter);
    const said = run('java', ['-cp', classes, 'Main', service.url, user.token, call.uuid, scorecard], {
      cwd: javaFolder,
    });
    expect(JSON.parse(said)).toEqual([call.score, 'operator', true, 404]);
  },
  GIVE_UP_MS,
);
