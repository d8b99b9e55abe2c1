import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { callTexts } from './texts.ts';

const KEYS = [
  ['Space', 'key.space'],
  ['← →', 'key.arrows'],
  ['j k', 'key.jk'],
  ['Enter', 'key.enter'],
  ['1 – 9', 'key.numbers'],
  ['0', 'key.zero'],
  ['f', 'key.finish'],
  ['?', 'key.help'],
] as const;

/** The keys of the page. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = callTexts.use();
  return (
    <Dialog title={t('keys')} onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <DialogActions onClose={onClose} leave="close" />
    </Dialog>
  );
}
