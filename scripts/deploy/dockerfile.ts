/** An instruction of a Dockerfile, with its lines joined. `flags` are the `--name=value` before the rest. */
export interface Instruction {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly rest: string;
}

export interface Stage {
  readonly name: string;
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** The stages in order, with `${NAME}` of global ARGs replaced by their defaults. */
export function stagesOf(text: string): Stage[] {
  const globals: Record<string, string> = {};
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    const stage = stages.at(-1);
    if (instruction.keyword === 'ARG' && stage === undefined) {
      const [name = '', value = ''] = instruction.rest.split('=');
      globals[name] = value;
    } else if (instruction.keyword === 'FROM') {
      const [from = '', , name = String(stages.length)] = expanded(instruction.rest, globals).split(/\s+/);
      stages.push({ name, from, instructions: [] });
    } else if (stage === undefined) {
      throw new Error(`${instruction.keyword} is before the first FROM.`);
    } else {
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

function instructionsOf(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, keyword = '', after = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      const [, leading = '', rest = ''] = /^((?:--\S+\s+)*)(.*)$/.exec(after) ?? [];
      const flags = leading
        .trim()
        .split(/\s+/)
        .filter((flag) => flag !== '');
      return {
        keyword: keyword.toUpperCase(),
        flags: Object.fromEntries(
          flags.map((flag) => [flag.slice(2).split('=')[0], flag.split('=').slice(1).join('=')]),
        ),
        rest,
      };
    });
}

function expanded(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

/** Whether `.dockerignore` keeps a path, relative to the root and with `/`, in the context. The last matching rule applies. */
export function contextFilter(ignoreFile: string): (path: string) => boolean {
  const rules = ignoreFile
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      isException: line.startsWith('!'),
      pattern: expression(line.replace(/^!/, '').replace(/\/$/, '')),
    }));
  return (path) => {
    let isIn = true;
    for (const { isException, pattern } of rules) if (pattern.test(path)) isIn = isException;
    return isIn;
  };
}

/** A pattern matches a path and everything below it. */
function expression(pattern: string): RegExp {
  const source = pattern
    .split('/')
    .map((part) =>
      part === '**'
        ? '(?:.*/)?'
        : `${part
            .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
            .replaceAll('*', '[^/]*')
            .replaceAll('?', '[^/]')}/`,
    )
    .join('')
    .replace(/\/$/, '');
  return new RegExp(`^${source}(?:/|$)`);
}
