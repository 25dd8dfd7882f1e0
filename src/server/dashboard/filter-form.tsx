import type { ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'

/** A parameter of the URL. */
export interface FilterField {
  readonly name: string
  readonly label: string
  /** Default: text. */
  readonly type?: 'search' | 'date'
  /** Values to choose from, each with its words. Without a choice the parameter is empty. */
  readonly choices?: readonly (readonly [value: string, words: string])[]
  readonly all?: string
  /** Choice without the parameter, in place of an empty one. */
  readonly standard?: string
  readonly placeholder?: string
}

/**
 * The form that filters a list. It is sent with GET, so the URL has the filter: it can be reloaded, shared and gone back to.
 *
 * @param kept names of parameters that the form keeps, such as the order
 */
export function FilterForm({
  signedIn: { base, request, query },
  label,
  fields,
  kept = [],
  anchor,
  fault,
}: {
  signedIn: SignedInRequest
  label: string
  fields: readonly FilterField[]
  kept?: readonly string[]
  /** Id of the element to scroll to. */
  anchor: string
  fault?: ProblemError | undefined
}) {
  const here = base + request.path
  const hidden = kept.flatMap((name) => query.getAll(name).map((value) => [name, value] as const))
  const rest = new URLSearchParams(hidden.map((pair) => [...pair]))
  const isFiltered = fields.some(({ name, standard }) => (query.get(name) || standard) !== standard)
  return (
    <search>
      <form method="get" action={`${here}#${anchor}`} class="narrow-down" aria-label={label}>
        {fault ? (
          <div class="fault" role="alert">
            <p>{fault.message}</p>
          </div>
        ) : null}
        {fields.map((field) => (
          <div class={field.type === 'search' ? 'across' : undefined}>
            <label for={field.name}>{field.label}</label>
            <FilterInput field={field} value={query.get(field.name) ?? ''} />
          </div>
        ))}
        {hidden.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="actions">
          <button type="submit" class="quiet">
            Filter
          </button>
          {isFiltered ? <a href={`${rest.size === 0 ? here : `${here}?${rest}`}#${anchor}`}>Clear</a> : null}
        </div>
      </form>
    </search>
  )
}

function FilterInput({ field, value }: { field: FilterField; value: string }) {
  const { name, type = 'text', choices, all = 'All', standard, placeholder } = field
  if (!choices) {
    return (
      <input id={name} name={name} maxlength={255} autocomplete="off" {...{ type, value, placeholder }} />
    )
  }
  const isKnown = value === '' || choices.some(([choice]) => choice === value)
  return (
    <select id={name} name={name}>
      {standard === undefined ? <option value="">{all}</option> : null}
      {isKnown ? null : (
        <option value={value} selected>
          {value}
        </option>
      )}
      {choices.map(([choice, words]) => (
        <option value={choice} selected={choice === (value || standard)}>
          {words}
        </option>
      ))}
    </select>
  )
}
