import { type Environment, parseConfig, StartFault } from '@call-analysis/runtime';
import type { CatalogueModel, InstalledModels } from '@call-analysis/transcription/models';
import { type Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../backup/progress.ts';
import type { Administration, CallAdministration } from './administration.ts';
import { readPlace } from './with-or-without-service.ts';

const ADD = `
NAME is a model of the catalogue ("speech-model list"). A URL or FILE is an archive as sherpa-onnx publishes them (tar.bz2, tar.gz
or zip). The model is downloaded, checked, loaded and hears a sample of each of its languages before it is used; running
services use it from their next recording on, without a restart. A download that breaks goes on where it stopped when the
command is run again. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured.

  npm run -s admin -- speech-model add gigaam-multilingual-large --retry
  npm run -s admin -- speech-model add https://example.com/sherpa-onnx-zipformer-ru-2024-09-18.tar.bz2
  npm run -s admin -- speech-model add ./model.tar.bz2 --name russian --languages ru

Prints { model, heard }, and with --retry { retried }: of how many calls a new attempt was started. --retry needs the running
service.`;
const WHERE = `
Models are in SPEECH_MODEL_DIR, or without it in the folder models of DATA_DIR.`;

/** The code of failed calls that a new model can help. */
const UNSUPPORTED = 'LANGUAGE_NOT_SUPPORTED';

interface Tools {
  readonly env: Environment;
  readonly stderr: Terminal;
  readonly write: (value: unknown) => void;
  readonly administer: <Result>(work: (admin: Administration) => Promise<Result>) => Promise<Result>;
  readonly withCalls: <Result>(work: (calls: CallAdministration) => Promise<Result>) => Promise<Result>;
}

interface AddArguments {
  readonly name?: string;
  readonly kind?: string;
  readonly languages?: string[];
  readonly sha256?: string;
  readonly retry?: boolean;
  readonly firm?: string;
}

/** Adds `speech-model add`, `list`, `remove` and `test`. */
export function addSpeechModelCommands(program: Command, { env, stderr, write, administer, withCalls }: Tools): void {
  const models = program.command('speech-model').description('models of the local speech engine');
  models
    .command('add')
    .description('download or unpack a model, try it, and let the running services use it')
    .argument('<model>', 'a name in the catalogue, a URL or a file')
    .option('--name <name>', 'the name of the model in transcripts and of its folder')
    .option('--kind <kind>', 'the kind of the model, if its files do not show it; see docs/speech-models.md')
    .option('--languages <codes>', 'the languages it recognizes, as in ru,uz', languages)
    .option('--sha256 <digest>', 'the SHA-256 that the archive must have', sha256)
    .option('--retry', 'then retry the calls that failed with LANGUAGE_NOT_SUPPORTED')
    .option('--firm <uuid>', 'with --retry: only those of this firm')
    .addHelpText('after', `${ADD}\n${WHERE}`)
    .action(async (reference: string, { kind, retry, firm, ...options }: AddArguments, command: Command) => {
      if (firm !== undefined && retry !== true) command.error('error: --firm is for --retry');
      const { KINDS } = await import('@call-analysis/transcription/models');
      const known = KINDS.find((each) => each === kind);
      if (kind !== undefined && known === undefined) command.error(`error: --kind is one of ${KINDS.join(', ')}`);
      const installed = await openModels(env);
      const progress = showProgress(stderr);
      const add = () =>
        installed
          .add(reference, { ...options, kind: known, environment: env, onProgress: progress.show })
          .finally(() => progress.end());
      if (retry !== true) return write(await add());
      // Whether the service answers is known before the model is downloaded.
      await withCalls(async (calls) => {
        const added = await add();
        const firms = firm === undefined ? await administer((admin) => admin.listFirms()) : [{ uuid: firm }];
        let retried = 0;
        for (const { uuid } of firms) retried += await calls.retryFailed(uuid, UNSUPPORTED);
        write({ ...added, retried });
      });
    });
  models
    .command('list')
    .description('list the models that are used, and the catalogue')
    .addHelpText('after', WHERE)
    .action(async () => {
      const [{ readCatalogue }, installed] = await Promise.all([
        import('@call-analysis/transcription/models'),
        openModels(env),
      ]);
      const used = installed.list();
      const isInstalled = ({ name }: CatalogueModel) => used.some((each) => each.name === name);
      const catalogue = readCatalogue().map((model) => {
        const { name, description, languages: codes, licence, source, files } = model;
        const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
        return { name, description, languages: codes, bytes, licence, source, installed: isInstalled(model) };
      });
      write({ directory: installed.directory, models: used, catalogue });
    });
  models
    .command('test')
    .description('let a model hear a sample of each of its languages, and print what it heard')
    .argument('<name>', 'as "speech-model list" shows it')
    .addHelpText('after', WHERE)
    .action(async (name: string) => write(await (await openModels(env)).test(name)));
  models
    .command('remove')
    .description('remove a model; running services stop using it with their next recording')
    .argument('<name>', 'as "speech-model list" shows it')
    .addHelpText('after', WHERE)
    .action(async (name: string) => write({ removed: await (await openModels(env)).remove(name) }));
}

async function openModels(env: Environment): Promise<InstalledModels> {
  const { InstalledModels: Installed } = await import('@call-analysis/transcription/models');
  return new Installed(await modelDirectory(env));
}

/** Where the transcription service of this environment looks for models. */
async function modelDirectory(env: Environment): Promise<string> {
  const [place, { SpeechVariables }] = await Promise.all([
    readPlace(env),
    import('@call-analysis/transcription/engines'),
  ]);
  if (place.remote !== undefined) {
    const { SPEECH_MODEL_DIR } = parseConfig(SpeechVariables.pick({ SPEECH_MODEL_DIR: true }), env);
    if (SPEECH_MODEL_DIR !== undefined) return SPEECH_MODEL_DIR;
    throw new StartFault(
      'Set SPEECH_MODEL_DIR to the folder that the transcription service reads, as it is mounted on this machine.',
    );
  }
  const { speech } = place.settings;
  if (speech.kind !== 'local') {
    const name = speech.kind === 'command' ? 'SPEECH_COMMAND' : 'SPEECH_URL';
    throw new StartFault(`${name} selects another speech engine, so models are not used. Unset it to use them.`);
  }
  return speech.modelDirectory ?? place.openDirectory().models;
}

function languages(text: string): string[] {
  const codes = text.split(',').map((code) => code.trim());
  if (codes.some((code) => !/^[a-z]{2,3}$/.test(code)))
    throw new InvalidArgumentError('They must be codes with commas between them, such as ru,uz.');
  return codes;
}

function sha256(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('It must have 64 hexadecimal digits.');
  return text;
}

const SHOWN_EVERY_MS = 250;
const LOGGED_EVERY_MS = 10_000;

/** Shows progress on standard error: on a terminal in one line, elsewhere a line now and then. */
function showProgress(output: Terminal) {
  let shownAt = 0;
  let last = '';
  return {
    show(step: string, bytes: number, total: number | null) {
      const every = output.isTTY ? SHOWN_EVERY_MS : LOGGED_EVERY_MS;
      const now = Date.now();
      if (step === last && now - shownAt < every && bytes !== total) return;
      [shownAt, last] = [now, step];
      const megabytes = (value: number) => (value / 1e6).toFixed(value < 1e7 ? 1 : 0);
      const of =
        total === null || total === 0 ? '' : ` of ${megabytes(total)} (${Math.floor((100 * bytes) / total)} %)`;
      const text = bytes === 0 && total === null ? step : `${step}: ${megabytes(bytes)}${of} MB`;
      output.write(output.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end() {
      if (output.isTTY && last !== '') output.write('\n');
    },
  };
}
