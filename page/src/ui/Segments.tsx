// A choice of a few values side by side.
interface Props<T> { value: T; options: readonly { value: T; title: string }[]; onChange: (value: T) => void; label: string }

export function Segments<T extends string | number>({ value, options, onChange, label }: Props<T>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button type="button" key={option.value} aria-pressed={option.value === value} onClick={() => onChange(option.value)}>
          {option.title}
        </button>
      ))}
    </div>
  );
}
