import type { Child } from 'hono/jsx'
import { isDay } from '../../codec/time-text.ts'
import type { SignedInRequest } from './call-api.ts'
import { formatCount } from './values.tsx'

export const pageSize = 25

export type PageQuery = {
  readonly limit: string
  readonly cursor: string | undefined
}

export function pageQueryOf({ query }: SignedInRequest): PageQuery {
  return { limit: String(pageSize), cursor: query.get('cursor') ?? undefined }
}

const ofOnePage = ['cursor', 'done', 'rest'] as const

export function withoutPageOf(query: URLSearchParams): URLSearchParams {
  const others = new URLSearchParams(query)
  for (const name of ofOnePage) others.delete(name)
  return others
}

export function pathWith(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`
}

/**
 * URL of this list with other parameters, on its first page unless they have a cursor; those without a value are left out.
 *
 * @param anchor id of the element to scroll to
 */
export function hereWith(
  { base, request, query }: SignedInRequest,
  others: Readonly<Record<string, string | null | undefined>>,
  anchor?: string,
): string {
  const search = withoutPageOf(query)
  for (const [name, value] of Object.entries(others)) {
    if (value) search.set(name, value)
    else search.delete(name)
  }
  return pathWith(base + request.path, search) + (anchor === undefined ? '' : `#${anchor}`)
}

/**
 * Links to the first page and to the next one: a cursor leads forward only, and the browser leads back. Null if there is
 * a single page.
 */
export function nextPage(signedIn: SignedInRequest, nextCursor: string | null, anchor?: string): Child {
  const isFirst = signedIn.query.get('cursor') === null
  if (nextCursor === null && isFirst) return null
  return (
    <nav class="pages" aria-label="Pages">
      {isFirst ? null : <a href={hereWith(signedIn, {}, anchor)}>First page</a>}
      {nextCursor === null ? (
        <span>Last page</span>
      ) : (
        <a rel="next" href={hereWith(signedIn, { cursor: nextCursor }, anchor)}>
          Next page
        </a>
      )}
    </nav>
  )
}

/** `at` is from 1. */
interface ItemPage {
  readonly at: number
  readonly size: number
  readonly total: number
}

export function itemPageOf(given: string | null, size: number, total: number): ItemPage {
  const last = Math.max(1, Math.ceil(total / size))
  return { at: Math.min(Math.max(1, Math.trunc(Number(given)) || 1), last), size, total }
}

/** Null if there are few. They stay on this page of the list. */
export function itemPages(signedIn: SignedInRequest, { at, size, total }: ItemPage, anchor: string) {
  if (total <= size) return null
  const cursor = signedIn.query.get('cursor')
  const href = (page: number) =>
    hereWith(signedIn, { cursor, items: page === 1 ? undefined : String(page) }, anchor)
  return (
    <nav class="pages items" aria-label="Items">
      <span>{`Items ${formatCount((at - 1) * size + 1)}–${formatCount(Math.min(at * size, total))} of ${formatCount(total)}`}</span>
      {at > 1 ? <a href={href(at - 1)}>Previous items</a> : null}
      {at * size < total ? <a href={href(at + 1)}>Next items</a> : null}
    </nav>
  )
}

export interface FilterField {
  readonly name: string
  readonly label: string
  /** Default: text. */
  readonly type?: 'search' | 'date' | 'text'
  /** Values to choose from, each with its words. Without a choice the parameter is empty. */
  readonly choices?: readonly FilterChoice[]
  readonly groups?: readonly (readonly [heading: string, choices: readonly FilterChoice[]])[]
  readonly all?: string
  readonly standard?: string
  readonly placeholder?: string
}

type FilterChoice = readonly [value: string, words: string]

/** Sent with GET, so that the URL can be reloaded and shared. `anchor` is the element to scroll to. */
export function filterForm(
  signedIn: SignedInRequest,
  label: string,
  fields: readonly FilterField[],
  anchor?: string,
): Child {
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
            {inputOf(field, query.get(field.name) ?? '')}
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

function inputOf(field: FilterField, value: string): Child {
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

export interface FilterLink {
  readonly words: string
  readonly href: string
  readonly isChosen: boolean
  readonly count?: number | undefined
  readonly isApart?: boolean
}

export function filterLinks(label: string, links: readonly FilterLink[]): Child {
  return (
    <nav class="filter" aria-label={label}>
      <ul>
        {links.map(({ words, href, isChosen, count, isApart }) => (
          <li class={isApart ? 'apart' : undefined}>
            <a href={href} aria-current={isChosen ? 'true' : undefined}>
              {words} {count === undefined ? null : <span>{formatCount(count)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Empty parameters are left out. */
export function filterIn<const Names extends Readonly<Record<string, string>>>(
  query: URLSearchParams,
  names: Names,
) {
  const entries = Object.entries(names).map(([name, own]) => [name, query.get(own)?.trim() || undefined])
  return Object.fromEntries(entries) as { readonly [Name in keyof Names]: string | undefined }
}

export function capitalizedChoices(values: readonly string[]) {
  return values.map((value) => [value, capitalized(value)] as const)
}

export function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`
}

/** In UTC, moved by `later` milliseconds. Other text is returned as it is, for the API to refuse. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (day === undefined || !isDay(day)) return day
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + later).toISOString()
}
