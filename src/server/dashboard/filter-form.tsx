import type { SignedInRequest } from './call-api.ts'
import { hereWith, withoutPageOf } from './paging.tsx'

/** A parameter of the URL. */
export interface FilterField {
  readonly name: string
  readonly label: string
  /** Default: text. */
  readonly type?: 'search' | 'date' | 'text'
  /** Values to choose from, each with its words. Without a choice the parameter is empty. */
  readonly choices?: readonly FilterChoice[]
  /** Choices below headings. */
  readonly groups?: readonly (readonly [heading: string, choices: readonly FilterChoice[]])[]
  readonly all?: string
  /** Choice without the parameter, in place of an empty one. */
  readonly standard?: string
  readonly placeholder?: string
}

type FilterChoice = readonly [value: string, words: string]

/**
 * The form that filters a list. It is sent with GET, so the URL has the filter: it can be reloaded, shared and gone back to. Other
 * parameters stay, such as the order.
 */
export function FilterForm({
  signedIn,
  label,
  fields,
  anchor,
}: {
  signedIn: SignedInRequest
  label: string
  fields: readonly FilterField[]
  /** Id of the element to scroll to. */
  anchor?: string
}) {
  const { base, request, query } = signedIn
  const end = anchor === undefined ? '' : `#${anchor}`
  const cleared = Object.fromEntries(fields.map(({ name }) => [name, undefined]))
  const kept = [...withoutPageOf(query)].filter(
    ([name, value]) => value !== '' && !fields.some((field) => field.name === name),
  )
  const isFiltered = fields.some(({ name, standard }) => (query.get(name) || standard) !== standard)
  return (
    <search>
      <form method="get" action={base + request.path + end} class="narrow-down" aria-label={label}>
        {fields.map((field) => (
          <div class={field.type === 'search' ? 'across' : undefined}>
            <label for={field.name}>{field.label}</label>
            <FilterInput field={field} value={query.get(field.name) ?? ''} />
          </div>
        ))}
        {kept.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="actions">
          <button type="submit" class="quiet">
            Filter
          </button>
          {isFiltered ? <a href={hereWith(signedIn, cleared, anchor)}>Clear</a> : null}
        </div>
      </form>
    </search>
  )
}

function FilterInput({ field, value }: { field: FilterField; value: string }) {
  const { name, type = 'text', choices = [], groups = [], all = 'All', standard, placeholder } = field
  if (!field.choices && !field.groups) {
    return (
      <input
        id={name}
        name={name}
        maxlength={300}
        autocomplete="off"
        spellcheck={false}
        {...{ type, value, placeholder }}
      />
    )
  }
  const known = [...choices, ...groups.flatMap(([, each]) => each)]
  const isKnown = value === '' || known.some(([choice]) => choice === value)
  const options = (some: readonly FilterChoice[]) =>
    some.map(([choice, words]) => (
      <option value={choice} selected={choice === (value || standard)}>
        {words}
      </option>
    ))
  return (
    <select id={name} name={name}>
      {standard === undefined ? <option value="">{all}</option> : null}
      {isKnown ? null : options([[value, value]])}
      {options(choices)}
      {groups.map(([heading, each]) => (
        <optgroup label={heading}>{options(each)}</optgroup>
      ))}
    </select>
  )
}
