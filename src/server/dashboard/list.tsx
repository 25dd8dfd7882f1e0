import type { Child } from 'hono/jsx'
import type { Operation } from '../../contract/operation.ts'
import { Card, type Column, Table } from '../../report/elements.tsx'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem-error.ts'
import { askOwn, type SignedInRequest, type WritingRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { faultText, submitOnce } from './form.tsx'
import { addressOf, framePage, type NoteName, pageTabs, type Section } from './frame.tsx'
import {
  type FilterField,
  filterForm,
  hereWith,
  nextPage,
  type PageQuery,
  pageQueryOf,
} from './list-parameters.tsx'
import { filledInWith, type RecordForm, recordForm } from './record-form.tsx'
import { type FilePage, fileLinks, tableFilePages } from './table-file.tsx'

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
  readonly query?: (signedIn: SignedInRequest) => Readonly<Record<string, string | undefined>>
  /** Parameter `q` also finds a record by its complete external id. */
  readonly findsExternalIds?: true
  readonly rows?: (signedIn: SignedInRequest, items: readonly Item[]) => Promise<readonly Row[]>
  readonly read?: (signedIn: SignedInRequest) => Promise<Listed<Row>>
  readonly filter?: {
    readonly label: string
    readonly fields: (signedIn: SignedInRequest) => readonly FilterField[] | Promise<readonly FilterField[]>
  }
  readonly above?: (signedIn: SignedInRequest, listed: Listed<Row>) => Child
  readonly none?: Child | ((signedIn: SignedInRequest) => Child)
  readonly noMatch?: string
  readonly below?: (signedIn: SignedInRequest) => Promise<Child>
  readonly create?: Creation
  readonly hasNoFile?: true
  readonly act?: DashboardPage['act']
  readonly isLong?: DashboardPage['isLong']
}

interface Creation {
  readonly title: string
  readonly form: RecordForm | ((signedIn: SignedInRequest) => RecordForm)
  /** Default: the defaults of the API. */
  readonly initial?: (signedIn: SignedInRequest) => Readonly<Record<string, unknown>>
  readonly submit: (signedIn: WritingRequest, form: URLSearchParams) => Promise<Reply>
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
  readonly nextCursor?: string | null
  readonly fault?: ProblemError
}

export async function readOrFault<Value>(read: () => Promise<Value>): Promise<Value | ProblemError> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProblemError && [400, 404].includes(error.status)) return error
    throw error
  }
}

export async function listedOrFault<Item>(read: () => Promise<Listed<Item>>): Promise<Listed<Item>> {
  const found = await readOrFault(read)
  return found instanceof ProblemError ? { data: [], nextCursor: null, fault: found } : found
}

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
    askOwn(signedIn, operation, { query: asked }) as Promise<FilePage<Item>>
  return findsExternalIds ? readWithExternalId(given, read) : read(given)
}

async function readRows<Row, Item>(
  page: ListPage<Row, Item>,
  signedIn: SignedInRequest,
): Promise<Listed<Row>> {
  const { data, nextCursor } = await readItems(page, signedIn, pageQueryOf(signedIn))
  const rows = page.rows ? await page.rows(signedIn, data) : (data as readonly unknown[] as readonly Row[])
  return { data: rows, nextCursor }
}

async function showList<Row, Item>(
  page: ListPage<Row, Item>,
  signedIn: SignedInRequest,
  formFault?: ProblemError,
  form?: URLSearchParams,
): Promise<Reply> {
  const { path, section = path as Section, title, heading = title, tab, intro, create, none, filter } = page
  const listed = await listedOrFault(async () => page.read?.(signedIn) ?? readRows(page, signedIn))
  const asked = { ...page.query?.(signedIn), sort: undefined }
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const creation = typeof create?.form === 'function' ? create.form(signedIn) : create?.form
  const list = typeof page.list === 'function' ? page.list(signedIn) : page.list
  return framePage(
    signedIn,
    { title, section, heading, fault: formFault ?? listed.fault },
    tab && integrationTabs(signedIn, tab),
    intro && <p>{intro}</p>,
    listCard(signedIn, list, listed, {
      heading,
      above: [
        filter && filterForm(signedIn, filter.label, await filter.fields(signedIn), list.id),
        page.above?.(signedIn, listed),
      ],
      none: (isFiltered && page.noMatch) || (typeof none === 'function' ? none(signedIn) : none),
      below: page.hasNoFile || listed.data.length === 0 ? null : fileLinks(signedIn, path),
    }),
    await page.below?.(signedIn),
    create && creation && (
      <Card id="new" title={create.title} isShort>
        {recordForm(signedIn, creation, {
          form: form ?? filledInWith(creation, create.initial?.(signedIn)),
          fault: formFault,
        })}
      </Card>
    ),
  )
}

interface AroundList {
  /** Heading of the page; the list does not repeat it on the screen. */
  readonly heading?: string
  readonly above?: Child
  readonly none?: Child
  readonly below?: Child
}

export function listCard<Item>(
  signedIn: SignedInRequest,
  list: List<Item>,
  listed: Listed<Item>,
  { heading, above, none, below }: AroundList = {},
): Child {
  return (
    <Card id={list.id} title={list.title} isUnseen={list.title === heading}>
      {faultText(listed.fault)}
      {above}
      {listTable(signedIn, list, listed, none)}
      {below}
    </Card>
  )
}

type TableOfList<Item> = Pick<List<Item>, 'caption' | 'columns' | 'sort'> & { readonly id?: string }

export function listTable<Item>(
  signedIn: SignedInRequest,
  list: TableOfList<Item>,
  { data, nextCursor }: Listed<Item>,
  none?: Child,
): Child {
  const { caption, columns, id } = list
  // With a filter that few rows match, a page may be empty although others follow.
  const text = nextCursor ? 'None found yet. The next page continues the search.' : none
  return (
    <>
      {data.length > 0 || none === undefined ? (
        <Table
          caption={caption}
          columns={columns.map((column) => ({ ...column, ...sortingOf(signedIn, list, column) }))}
          rows={data.map((item) => columns.map(({ cell }) => cell(item, signedIn)))}
        />
      ) : typeof text === 'string' ? (
        <p>{text}</p>
      ) : (
        text
      )}
      {nextCursor === undefined ? null : nextPage(signedIn, nextCursor, id)}
    </>
  )
}

/** Descending if the table is sorted by the column already. */
function sortingOf<Item>(
  signedIn: SignedInRequest,
  { id, sort: standard }: TableOfList<Item>,
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

function integrationTabs({ base }: SignedInRequest, shown: IntegrationTab): Child {
  return pageTabs(
    'Integrations',
    shown,
    tabs.map(([path, name]) => [base + path, name] as const),
  )
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
