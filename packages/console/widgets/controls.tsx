import {
  type ButtonHTMLAttributes,
  type ComponentProps,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Icon, type IconName } from './icon.tsx';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `danger` destroys something, `quiet` has no border. */
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly isSmall?: boolean;
  readonly icon?: IconName;
  /** The name of a button that shows its icon alone. */
  readonly label?: string;
  /** It sends its form. */
  readonly isSubmit?: boolean;
}

export function Button({ kind, isSmall = false, icon, label, isSubmit = false, className, children, ...rest }: Props) {
  const classes = [
    'button',
    kind && `button-${kind}`,
    label !== undefined && 'button-icon',
    isSmall && 'button-small',
    className,
  ];
  return (
    <button
      type={isSubmit ? 'submit' : 'button'}
      className={classes.filter(Boolean).join(' ')}
      aria-label={label}
      title={label}
      {...rest}
    >
      {icon !== undefined && <Icon name={icon} size={isSmall ? 13 : 16} />}
      {children}
    </button>
  );
}

interface ChipProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Absent: it is no choice. */
  readonly isOn?: boolean;
}

/** A choice among several, or something small to press. */
export function Chip({ isOn, ...rest }: ChipProps) {
  return <button type="button" className={isOn === true ? 'chip chip-on' : 'chip'} aria-pressed={isOn} {...rest} />;
}

interface FieldProps {
  readonly label: ReactNode;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A control under its label. */
export function Field({ label, className, children }: FieldProps) {
  return (
    <label className={className === undefined ? 'field' : `field ${className}`}>
      <span className="field-label">{label}</span>
      {children}
    </label>
  );
}

interface Typed {
  readonly label: ReactNode;
  readonly onText?: (text: string) => void;
}

interface TextFieldProps extends Typed, ComponentProps<'input'> {
  /** Of the field with its label. */
  readonly fieldClass?: string;
}

export function TextField({ label, fieldClass, className = '', onText, ...input }: TextFieldProps) {
  return (
    <Field label={label} className={fieldClass}>
      <input className={`input ${className}`} onChange={({ target }) => onText?.(target.value)} {...input} />
    </Field>
  );
}

export function TextArea({ label, onText, ...input }: Typed & ComponentProps<'textarea'>) {
  return (
    <Field label={label}>
      <textarea className="input" onChange={({ target }) => onText?.(target.value)} {...input} />
    </Field>
  );
}

interface CheckProps extends ComponentProps<'input'> {
  readonly onTick?: (isTicked: boolean) => void;
}

export function Check({ className = 'check', onTick, children, ...input }: CheckProps) {
  return (
    <label className={className}>
      <input type="checkbox" onChange={({ target }) => onTick?.(target.checked)} {...input} />
      {children}
    </label>
  );
}

interface SelectProps<Value> extends Omit<ComponentProps<'select'>, 'value'> {
  readonly options: readonly Value[];
  /** The options' names, where they are not their values. */
  readonly nameOf?: (value: Value) => string;
  readonly value?: Value;
  readonly onChoose?: (value: Value) => void;
}

export function Select<Value extends string | number>(props: SelectProps<Value>) {
  const { options, nameOf = String, onChoose, className = 'input', ...select } = props;
  const choose = (chosen: string) => {
    const value = options.find((each) => String(each) === chosen);
    if (value !== undefined) onChoose?.(value);
  };
  return (
    <select className={className} {...(onChoose && { onChange: ({ target }) => choose(target.value) })} {...select}>
      {options.map((each) => (
        <option key={each} value={each}>
          {nameOf(each)}
        </option>
      ))}
    </select>
  );
}

export function SelectField<Value extends string | number>({
  label,
  ...select
}: { readonly label: ReactNode } & SelectProps<Value>) {
  return (
    <Field label={label}>
      <Select {...select} />
    </Field>
  );
}

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** `text`: what a field has, without spaces at its ends; empty where there is no such field. */
  readonly onSend: (text: (name: string) => string) => void;
}

/** A form that the page sends itself. */
export function Form({ className = 'form', onSend, ...form }: FormProps) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        onSend((name) => String(fields.get(name) ?? '').trim());
      }}
      {...form}
    />
  );
}

interface PopupProps {
  readonly icon?: IconName;
  readonly iconSize?: number;
  /** What the button shows after its icon. */
  readonly label?: ReactNode;
  /** The button's name where `label` is an icon. */
  readonly name?: string | undefined;
  readonly className?: string;
  /** A function gets what closes the panel. */
  readonly children: ReactNode | ((close: () => void) => ReactNode);
  readonly isDisabled?: boolean;
  /** Open when it appears: the user has just asked for it. */
  readonly opensAtOnce?: boolean;
}

const GAP = 4;
const MARGIN = 8;

/**
 * A button that opens a panel beside it. The browser's popover closes it by Escape or a click elsewhere and returns the
 * focus; what is in it are ordinary controls. A button or link that is an item of it closes it before it acts.
 */
export function Popup({
  icon,
  iconSize = 16,
  label,
  name,
  className = 'button',
  children,
  isDisabled = false,
  opensAtOnce = false,
}: PopupProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (isOpen && button.current !== null && panel.current !== null) place(panel.current, button.current);
  });
  useEffect(() => {
    if (opensAtOnce) panel.current?.showPopover({ source: button.current! });
    // Only when it appears.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  const close = () => panel.current?.hidePopover();
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={name}
        aria-expanded={isOpen}
        aria-controls={id}
        disabled={isDisabled}
        popoverTarget={id}
      >
        {icon !== undefined && <Icon name={icon} size={iconSize} />}
        {label}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="popup"
        role="group"
        aria-label={name ?? (typeof label === 'string' ? label : undefined)}
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onClickCapture={({ target }) => {
          if ((target as Element).closest('button.popup-item, a.popup-item') !== null) close();
        }}
      >
        {isOpen && (typeof children === 'function' ? children(close) : children)}
      </div>
    </>
  );
}

/** Under the button, or above it where there is more room, and within the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const below = innerHeight - at.bottom - GAP - MARGIN;
  const top = height <= below || below >= at.top ? at.bottom + GAP : at.top - GAP - height;
  const left = Math.min(at.left, innerWidth - width - MARGIN);
  panel.style.top = `${Math.max(MARGIN, top)}px`;
  panel.style.left = `${Math.max(MARGIN, left)}px`;
}

interface ItemProps extends ComponentProps<'button'> {
  readonly icon?: IconName;
  /** It destroys something. */
  readonly isDanger?: boolean;
}

export function PopupItem({ icon, isDanger = false, children, ...rest }: ItemProps) {
  return (
    <button type="button" className={isDanger ? 'popup-item popup-danger' : 'popup-item'} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
