// Downloads or builds, each once, the servers and programs that test:distributed and check:deploy use, so that this can happen
// while other tests run. What fails here is fetched again, and explained, where it is needed.
import { goProgram, kafkaProgram, toxiproxy, versitygw } from '../packages/testing/servers/programs.ts';
import { hadolint, helm, kubeconform, kubernetesSchemas, npmTools, promtool } from './deploy/tools.ts';

const failures = (
  await Promise.allSettled([
    kafkaProgram(),
    // Go uses all processors for one program.
    (async () => {
      for (const program of [versitygw, toxiproxy]) await goProgram(program);
      for (const program of [helm, kubeconform]) await program();
    })(),
    hadolint(),
    promtool(),
    npmTools(),
    kubernetesSchemas('v1.37.0'),
  ])
).flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
