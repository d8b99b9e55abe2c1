// A process that asks an ear to hear something endless, and says which process the ear is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ears } from '../ears.ts';

const directory = process.argv[2]!;
const file = join(directory, 'asked');
writeFileSync(file, 'endless');
const program = fileURLToPath(new URL('./stand-in-ear.ts', import.meta.url));
const ears = new Ears({ count: 1, recognition: { by: 'models', models: [], directory }, program });
void ears.hear({ file, format: 'wav', duration: 10, onProgress: () => process.send?.(ears.pids[0]) });
