import type { Child } from 'hono/jsx'
import { isDay } from '../../codec/time-text.ts'
import { type Column, Table } from '../../report/table.tsx'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import type { FilledIn } from './form.tsx'
import { framePage, PageTabs, type Section } from './frame.tsx'
import { nextPage, pathWith, withoutPageOf } from './paging.tsx'
import { FileLinks, type TableFile } from './table-file.tsx'

interface ListPage<Item> {
  readonly path: DashboardPage['path']
  readonly section: Section
  readonly title: string
  /** Default: the title. */
  readonly heading?: string
  readonly tab?: IntegrationTab
  readonly intro?: Child
  readonly list: List<Item> | ((signedIn: SignedInRequest) => List<Item>)
  /** `fault` tells what is wrong with the filter. */
  readonly read: (signedIn: SignedInRequest) => Promise<Listed<Item>>
  readonly filters?: (signedIn: SignedInRequest, listed: Listed<Item>) => Child | Promise<Child>
  /** Content in place of a table without rows. */
  readonly none?: (signedIn: SignedInRequest, listed: Listed<Item>) => Child
  /** Content below the list. */
  readonly below?: (signedIn: SignedInRequest) => Promise<Child>
  readonly form?: {
    readonly title: string
    /** The fields before they are filled in, as a query. */
    readonly initial?: string
    readonly Fields: (filledIn: FilledIn) => Child
  }
  /** The list as files. */
  readonly file?: TableFile
  readonly act?: DashboardPage['act']
  readonly isLong?: DashboardPage['isLong']
}

export interface List<Item> {
  readonly id: string
  readonly title: string
  readonly caption: string
  readonly columns: readonly ListColumn<Item>[]
  /** Without `sort` in the URL; absent if the list has one order. */
  readonly sort?: string
}

export interface ListColumn<Item> extends Column {
  /** Makes the heading a link. */
  readonly sort?: string
  readonly cell: (item: Item, signedIn: SignedInRequest) => Child
}

export interface Listed<Item> {
  readonly data: readonly Item[]
  /** Absent if the list has a single page. */
  readonly nextCursor?: string | null
  readonly fault?: ProblemError
}

/** No records, and the fault, if the filter of the URL is wrong. */
export async function listedOrFault<Item>(read: () => Promise<Listed<Item>>): Promise<Listed<Item>> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ProblemError) || ![400, 404].includes(error.status)) throw error
    return { data: [], nextCursor: null, fault: error }
  }
}

export function listPage<Item>(page: ListPage<Item>): DashboardPage {
  const { path, act, form, isLong } = page
  const show = (signedIn: SignedInRequest) => showList(page, signedIn)
  const again = (signedIn: SignedInRequest, fault: ProblemError, filledIn: URLSearchParams) =>
    showList(page, signedIn, fault, filledIn)
  return { path, show, ...(isLong && { isLong }), ...(act && { act }), ...(form && { again }) }
}

async function showList<Item>(
  { section, title, heading = title, tab, intro, list, form, ...page }: ListPage<Item>,
  signedIn: SignedInRequest,
  formFault?: ProblemError,
  filledIn = new URLSearchParams(form?.initial),
): Promise<Reply> {
  const listed = await page.read(signedIn)
  const fault = formFault ?? listed.fault
  return framePage(
    signedIn,
    { title: fault ? `Error: ${withinSentence(title)}` : title, section, fault },
    <>
      <h1>{heading}</h1>
      {tab ? <IntegrationTabs signedIn={signedIn} shown={tab} /> : null}
      {intro === undefined ? null : <p>{intro}</p>}
      <ListCard
        {...{ signedIn, listed, heading }}
        list={typeof list === 'function' ? list(signedIn) : list}
        above={await page.filters?.(signedIn, listed)}
        none={page.none?.(signedIn, listed)}
        below={
          page.file && listed.data.length > 0 ? <FileLinks signedIn={signedIn} path={page.file.path} /> : null
        }
      />
      {await page.below?.(signedIn)}
      {form ? (
        <section class="card short" aria-labelledby="new">
          <h2 id="new">{form.title}</h2>
          <form.Fields signedIn={signedIn} form={filledIn} fault={formFault} />
        </section>
      ) : null}
    </>,
  )
}

/** Lower-cases the first letter, unless the title starts with an abbreviation (`API keys`). */
function withinSentence(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}

export function ListCard<Item>({
  signedIn,
  list,
  listed,
  heading,
  above,
  none,
  below,
}: {
  signedIn: SignedInRequest
  list: List<Item>
  listed: Listed<Item>
  /** Heading of the page; the list does not repeat it on the screen. */
  heading?: string
  above?: Child
  /** Content in place of a table without rows. */
  none?: Child
  below?: Child
}) {
  return (
    <section class="card" aria-labelledby={list.id}>
      <h2 id={list.id} class={list.title === heading ? 'unseen' : undefined}>
        {list.title}
      </h2>
      {above}
      <ListTable {...{ signedIn, list, listed, none }} />
      {below}
    </section>
  )
}

export function ListTable<Item>({
  signedIn,
  list,
  listed: { data, nextCursor },
  none,
}: {
  signedIn: SignedInRequest
  list: Pick<List<Item>, 'caption' | 'columns' | 'sort'> & { readonly id?: string }
  listed: Listed<Item>
  none?: Child
}) {
  const { caption, columns } = list
  const isEmpty = data.length === 0 && none !== undefined
  return (
    <>
      {isEmpty ? none : null}
      {isEmpty ? null : (
        <Table
          caption={caption}
          columns={columns.map((column) => ({ ...column, ...sortingOf(signedIn, list, column) }))}
          rows={data.map((item) => columns.map(({ cell }) => cell(item, signedIn)))}
        />
      )}
      {nextCursor === undefined ? null : nextPage(signedIn, nextCursor)}
    </>
  )
}

/** Descending if the table is sorted by the column already. */
function sortingOf<Item>(
  { base, request, query }: SignedInRequest,
  { id, sort: standard }: Pick<List<Item>, 'sort'> & { readonly id?: string },
  { sort }: ListColumn<Item>,
): Pick<Column, 'sorting'> {
  if (sort === undefined) return {}
  const chosen = query.get('sort') ?? standard
  const now = chosen === sort ? 'ascending' : chosen === `-${sort}` ? 'descending' : undefined
  const others = withoutPageOf(query)
  others.set('sort', now === 'ascending' ? `-${sort}` : sort)
  return { sorting: { now, href: `${pathWith(base + request.path, others)}#${id}` } }
}

const tabs = [
  ['/dashboard/integrations', 'Connections'],
  ['/dashboard/deliveries', 'Deliveries'],
  ['/dashboard/endpoints', 'Webhook endpoints'],
  ['/dashboard/messages', 'Messages'],
  ['/dashboard/calendars', 'Calendars'],
] as const

type IntegrationTab = (typeof tabs)[number][1]

function IntegrationTabs({
  signedIn: { base },
  shown,
}: {
  signedIn: SignedInRequest
  shown: IntegrationTab
}) {
  return (
    <PageTabs
      label="Integrations"
      shown={shown}
      tabs={tabs.map(([path, name]) => [base + path, name] as const)}
    />
  )
}

export function StatusFilter({
  label,
  here,
  parameter = 'status',
  choices,
  nameOf = capitalized,
  chosen,
  anchor,
}: {
  label: string
  /** URL of the list, with its other parameters. */
  here: string
  parameter?: string
  choices: readonly string[]
  nameOf?: (choice: string) => string
  chosen: string | undefined
  /** Id of the element to scroll to. */
  anchor: string
}) {
  return (
    <nav class="filter" aria-label={label}>
      <ul>
        {[undefined, ...choices].map((choice) => {
          const search = choice === undefined ? '' : `${here.includes('?') ? '&' : '?'}${parameter}=${choice}`
          return (
            <li>
              <a href={`${here}${search}#${anchor}`} aria-current={choice === chosen ? 'true' : undefined}>
                {choice === undefined ? 'All' : nameOf(choice)}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

export function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`
}

/** In UTC, moved by `later` milliseconds. Other text is returned as it is, for the API to refuse. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (day === undefined || !isDay(day)) return day
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + later).toISOString()
}

type SearchQuery = Readonly<Record<string, string | undefined>> & {
  readonly q?: string | undefined
  readonly cursor?: string | undefined
}

interface FoundPage<Item> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * Reads a page of a search that finds a record by its complete external id as well, which comes first. The index of
 * external ids finds it, so that the search itself is the one of the API.
 */
export async function readWithExternalId<Item extends { readonly id: string }>(
  query: SearchQuery,
  read: (query: SearchQuery) => Promise<FoundPage<Item>>,
): Promise<FoundPage<Item>> {
  const listed = await read(query)
  const externalId = query.q?.trim().replace(/^ext:/, '')
  if (!externalId) return listed
  const { q: _, cursor, ...others } = query
  const [found] = (await read({ ...others, external_id: externalId, limit: '1' })).data
  if (!found) return listed
  const rest = listed.data.filter(({ id }) => id !== found.id)
  return { ...listed, data: cursor === undefined ? [found, ...rest] : rest }
}
