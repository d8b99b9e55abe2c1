const EVERY_MS = 250;

/** Shows on a terminal what a command has done so far; elsewhere it says nothing. */
export interface Progress {
  step(name: string): void;
  add(bytes: number): void;
  end(): void;
}

/** Where progress is shown. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean };

export function showProgress(output: Terminal): Progress {
  if (!output.isTTY) return { step() {}, add() {}, end() {} };
  let name = '';
  let files = 0;
  let bytes = 0;
  let shownAt = 0;
  const show = () => {
    shownAt = Date.now();
    output.write(`\r\u001b[K${name}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB`);
  };
  return {
    step(next) {
      if (name !== '') output.write('\n');
      [name, files, bytes] = [next, 0, 0];
      show();
    },
    add(more) {
      files += 1;
      bytes += more;
      if (Date.now() - shownAt >= EVERY_MS) show();
    },
    end() {
      if (name === '') return;
      show();
      output.write('\n');
    },
  };
}
