import type { Child } from 'hono/jsx'
import { isDay } from '../../codec/time-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { Card, type Column, Table } from '../../report/elements.tsx'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem-error.ts'
import { askOwn, type SignedInRequest, type WritingRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { FaultText, submitOnce } from './form.tsx'
import { addressOf, framePage, type NoteName, PageTabs, type Section } from './frame.tsx'
import { hereWith, nextPage, type PageQuery, pageQueryOf } from './paging.tsx'
import { filledInWith, RecordFields, type RecordForm } from './record-form.tsx'
import { FileLinks, type FilePage, tableFilePages } from './table-file.tsx'
import { formatCount } from './values.tsx'

/** Rows are the records of an operation, unless `rows` makes them from these. */
interface ListPage<Row, Item = Row> {
  readonly path: DashboardPage['path']
  /** Default: the path. */
  readonly section?: Section
  readonly title: string
  /** Default: the title. */
  readonly heading?: string
  readonly tab?: IntegrationTab
  readonly intro?: Child
  readonly list: List<Row> | ((signedIn: SignedInRequest) => List<Row>)
  readonly operation: Operation
  /** The user's own records, which the API leaves to admins. */
  readonly isOwn?: true
  /** Parameters of the operation, by the filter of the URL. */
  readonly query?: (signedIn: SignedInRequest) => Readonly<Record<string, string | undefined>>
  /** Parameter `q` also finds a record by its complete external id. */
  readonly findsExternalIds?: true
  readonly rows?: (signedIn: SignedInRequest, items: readonly Item[]) => Promise<readonly Row[]>
  /** The rows of a page that shows another list than its files do. */
  readonly read?: (signedIn: SignedInRequest) => Promise<Listed<Row>>
  readonly filters?: (signedIn: SignedInRequest, listed: Listed<Row>) => Child | Promise<Child>
  /** In place of a table without rows. */
  readonly none?: Child | ((signedIn: SignedInRequest) => Child)
  /** The same, with a filter. */
  readonly noMatch?: string
  /** Content below the list. */
  readonly below?: (signedIn: SignedInRequest) => Promise<Child>
  readonly create?: Creation
  readonly hasNoFile?: true
  readonly act?: DashboardPage['act']
  readonly isLong?: DashboardPage['isLong']
}

/** A form below the list that makes one more. */
interface Creation {
  readonly title: string
  readonly form: RecordForm | ((signedIn: SignedInRequest) => RecordForm)
  /** Default: the defaults of the API. */
  readonly initial?: (signedIn: SignedInRequest) => Readonly<Record<string, unknown>>
  readonly submit: (signedIn: WritingRequest, form: URLSearchParams) => Promise<Reply>
  /** Note of a form that is submitted again. */
  readonly again: NoteName
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

/** The page, and the pages of its files. */
export function listPage<Row, Item = Row>(page: ListPage<Row, Item>): DashboardPage[] {
  const { path, operation, create, act, hasNoFile, isLong } = page
  const submit =
    create &&
    ((signedIn: SignedInRequest, form: URLSearchParams) =>
      submitOnce(signedIn, form, addressOf(signedIn, path, create.again), (inside) =>
        create.submit(inside, form),
      ))
  return [
    {
      path,
      show: (signedIn) => showList(page, signedIn),
      ...(isLong && { isLong }),
      ...((act ?? submit) && { act: act ?? submit }),
      ...(create && { again: (...submitted) => showList(page, ...submitted) }),
    },
    ...(hasNoFile
      ? []
      : tableFilePages({
          path,
          operation,
          read: (signedIn, query) => readItems(page, signedIn, query),
        })),
  ]
}

async function readItems<Row, Item>(
  { operation, isOwn, query, findsExternalIds }: ListPage<Row, Item>,
  signedIn: SignedInRequest,
  page: PageQuery,
): Promise<FilePage<Item>> {
  if (!isOwn) requireRight(signedIn.principal, operation)
  const given = { ...query?.(signedIn), ...page }
  const read = (asked: Readonly<Record<string, string | undefined>>) =>
    // A list answers its items.
    askOwn(signedIn, operation, { query: asked }) as Promise<FilePage<Item>>
  return findsExternalIds ? readWithExternalId(given, read) : read(given)
}

async function readRows<Row, Item>(
  page: ListPage<Row, Item>,
  signedIn: SignedInRequest,
): Promise<Listed<Row>> {
  const { data, nextCursor } = await readItems(page, signedIn, pageQueryOf(signedIn))
  // Without `rows` they are the items.
  const rows = page.rows ? await page.rows(signedIn, data) : (data as readonly unknown[] as readonly Row[])
  return { data: rows, nextCursor }
}

async function showList<Row, Item>(
  page: ListPage<Row, Item>,
  signedIn: SignedInRequest,
  formFault?: ProblemError,
  form?: URLSearchParams,
): Promise<Reply> {
  const { path, section = path as Section, title, heading = title, tab, intro, list, create, none } = page
  const listed = await listedOrFault(async () => page.read?.(signedIn) ?? readRows(page, signedIn))
  const filter = { ...page.query?.(signedIn), sort: undefined }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const creation = typeof create?.form === 'function' ? create.form(signedIn) : create?.form
  return framePage(
    signedIn,
    { title, section, fault: formFault ?? listed.fault },
    <>
      <h1>{heading}</h1>
      {tab ? <IntegrationTabs signedIn={signedIn} shown={tab} /> : null}
      {intro === undefined ? null : <p>{intro}</p>}
      <ListCard
        {...{ signedIn, listed, heading }}
        list={typeof list === 'function' ? list(signedIn) : list}
        above={await page.filters?.(signedIn, listed)}
        none={(isFiltered && page.noMatch) || (typeof none === 'function' ? none(signedIn) : none)}
        below={page.hasNoFile || listed.data.length === 0 ? null : <FileLinks {...{ signedIn, path }} />}
      />
      {await page.below?.(signedIn)}
      {create && creation ? (
        <Card id="new" title={create.title} isShort>
          <RecordFields
            {...{ signedIn, of: creation, fault: formFault }}
            form={form ?? filledInWith(creation, create.initial?.(signedIn))}
          />
        </Card>
      ) : null}
    </>,
  )
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
  /** Text or content in place of a table without rows. */
  none?: Child
  below?: Child
}) {
  return (
    <Card id={list.id} title={list.title} isUnseen={list.title === heading}>
      <FaultText fault={listed.fault} />
      {above}
      <ListTable {...{ signedIn, list, listed, none }} />
      {below}
    </Card>
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
  // With a filter that few rows match, a page may be empty although others follow.
  const text = nextCursor ? 'None found yet. The next page continues the search.' : none
  return (
    <>
      {isEmpty ? (
        typeof text === 'string' ? (
          <p>{text}</p>
        ) : (
          text
        )
      ) : (
        <Table
          caption={caption}
          columns={columns.map((column) => ({ ...column, ...sortingOf(signedIn, list, column) }))}
          rows={data.map((item) => columns.map(({ cell }) => cell(item, signedIn)))}
        />
      )}
      {nextCursor === undefined ? null : nextPage(signedIn, nextCursor, list.id)}
    </>
  )
}

/** Descending if the table is sorted by the column already. */
function sortingOf<Item>(
  signedIn: SignedInRequest,
  { id, sort: standard }: Pick<List<Item>, 'sort'> & { readonly id?: string },
  { sort }: ListColumn<Item>,
): Pick<Column, 'sorting'> {
  if (sort === undefined) return {}
  const chosen = signedIn.query.get('sort') ?? standard
  const now = chosen === sort ? 'ascending' : chosen === `-${sort}` ? 'descending' : undefined
  const next = now === 'ascending' ? `-${sort}` : sort
  return { sorting: { now, href: hereWith(signedIn, { sort: next }, id) } }
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

export interface FilterLink {
  readonly words: string
  readonly href: string
  readonly isChosen: boolean
  readonly count?: number | undefined
  /** It begins another kind of filter. */
  readonly isApart?: boolean
}

export function FilterLinks({ label, links }: { label: string; links: readonly FilterLink[] }) {
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

/** Parameters of the API by those of a page; those that are empty are left out. */
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

type SearchQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads a page of a search that finds a record by its complete external id as well, which comes first. The index of
 * external ids finds it, so that the search itself is the one of the API.
 */
async function readWithExternalId<Item>(
  query: SearchQuery,
  read: (query: SearchQuery) => Promise<FilePage<Item>>,
): Promise<FilePage<Item>> {
  const listed = await read(query)
  const externalId = query['q']?.replace(/^ext:/, '')
  if (!externalId) return listed
  const { q: _, cursor, ...others } = query
  const [found] = (await read({ ...others, external_id: externalId, limit: '1' })).data
  if (!found) return listed
  const rest = listed.data.filter((item) => idOf(item) !== idOf(found))
  return { ...listed, data: cursor === undefined ? [found, ...rest] : rest }
}

function idOf(item: unknown): unknown {
  return (item as { readonly id?: unknown }).id
}
