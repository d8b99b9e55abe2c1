import { useMay } from '../../session/rights.ts';
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

const OF_REVIEWS: ReadonlySet<string> = new Set(['key.numbers', 'key.zero', 'key.finish']);

/** The keys of the page that the user may use. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = callTexts.use();
  const keys = useMay('review') ? KEYS : KEYS.filter(([, text]) => !OF_REVIEWS.has(text));
  return (
    <Dialog title={t('keys')} onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, text]) => (
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
