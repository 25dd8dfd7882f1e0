import type { HttpResponse } from '../../../src/contract/http.ts'
import {
  csv,
  type ForeignPlatform,
  type ForeignRequest,
  foreignPlatform,
  json,
  type PlatformOptions,
  type Style,
  snakeCase,
} from './platform.ts'
import type { Noun, Thing } from './store.ts'

/** Paging style of a list. */
export type Paging = keyof typeof pagings

/** Options of the Rails and Laravel platform. */
export interface RailsOptions extends PlatformOptions {
  /** Paging style (default `numbers`: `{"courses": […], "total": 30, "pages": 3, "page": 1}`). */
  readonly paging?: Paging
  /** Items of a page (default 10). */
  readonly pageSize?: number
}

/**
 * A platform in the manner of Rails and Laravel: numbers as ids, lists under the noun's name and in pages, single
 * things in an envelope, 201 for what was made, 204 for what was changed, errors by field.
 */
export function railsPlatform(options: RailsOptions = {}): ForeignPlatform {
  const { paging = 'numbers', pageSize = 10 } = options
  const style: Style = {
    id: (_, n) => n,
    list: (noun, things, request) => pagings[paging](pageOf(noun, things, request, pageSize)),
    created: (_, thing) => json(201, { data: snakeCase(thing) }, { location: `/v1/things/${thing['id']}` }),
    changed: (noun, thing) =>
      noun === 'progress'
        ? { status: 204, headers: {}, body: null }
        : json(200, { [noun]: snakeCase(thing) }),
    profile: (user) => json(200, { data: snakeCase(user) }),
    csv: (rows) => csv(columns, rows.map(snakeCase)),
    refused: (status, message, field) =>
      json(status, field ? { errors: { [field]: [message] } } : { message, status }),
  }
  return foreignPlatform('rails.example', style, options)
}

const columns = ['learner_id', 'email', 'course_id', 'course_title', 'completion_percentage', 'last_accessed']

/** One page of a list, and its position. */
interface Slice {
  readonly name: string
  readonly items: readonly Thing[]
  readonly page: number
  readonly pages: number
  readonly size: number
  readonly total: number
  /** Link to the next page, with `page` or `offset`; null on the last one. */
  readonly next: (parameter: 'page' | 'offset' | 'cursor') => string | null
}

const names: Readonly<Record<Noun, string>> = {
  course: 'courses',
  lesson: 'lessons',
  user: 'users',
  progress: 'progress',
  row: 'learners',
}

const pagings = {
  numbers: ({ name, items, total, pages, page }: Slice) => json(200, { [name]: items, total, pages, page }),
  /** Resource collections of Laravel. */
  meta: ({ items, page, pages, size, total, next }: Slice) =>
    json(200, {
      data: items,
      links: { first: null, prev: null, next: next('page') },
      meta: { current_page: page, last_page: pages, per_page: size, total },
    }),
  /** Paginator of Laravel. */
  next_page_url: ({ items, page, pages, total, next }: Slice) =>
    json(200, { current_page: page, data: items, last_page: pages, next_page_url: next('page'), total }),
  /** Django REST framework. */
  next: ({ items, total, next }: Slice) =>
    json(200, { count: total, next: next('page'), previous: null, results: items }),
  /** OData and Microsoft Graph use these names too. */
  nextLink: ({ items, next }: Slice) =>
    json(200, { value: items, ...(next('page') && { nextLink: next('page') }) }),
  hasMore: ({ name, items, page, pages, size }: Slice) =>
    json(200, { [name]: items, hasMore: page < pages, offset: (page - 1) * size, limit: size }),
  offset: ({ name, items, page, size, total }: Slice) =>
    json(200, { [name]: items, offset: (page - 1) * size, limit: size, total }),
  cursor: ({ name, items, next }: Slice) =>
    json(200, {
      [name]: items,
      next_cursor: next('cursor') && new URL(next('cursor') ?? '').searchParams.get('cursor'),
    }),
  header: ({ items, next }: Slice) =>
    json(200, items, next('page') === null ? {} : { link: `<${next('page')}>; rel="next"` }),
  /** Says how many records exist, but not how to get them. */
  total: ({ name, items, total }: Slice) => json(200, { [name]: items, total }),
  /** Sends all records at once. */
  none: ({ name, items }: Slice) => json(200, { [name]: items }),
} satisfies Record<string, (slice: Slice) => HttpResponse>

function pageOf(noun: Noun, things: readonly Thing[], request: ForeignRequest, size: number): Slice {
  const { query } = request
  const offset = Number(query.get('offset') ?? query.get('cursor')?.slice('after-'.length) ?? 0)
  const page = query.has('page') ? Number(query.get('page')) : Math.floor(offset / size) + 1
  const next = (parameter: 'page' | 'offset' | 'cursor') => {
    if (page * size >= things.length) return null
    const url = new URL(request.url)
    const value = { page: String(page + 1), offset: String(page * size), cursor: `after-${page * size}` }[
      parameter
    ]
    url.searchParams.set(parameter, value)
    return url.href
  }
  return {
    name: names[noun],
    items: things.slice((page - 1) * size, page * size).map(snakeCase),
    page,
    pages: Math.ceil(things.length / size),
    size,
    total: things.length,
    next,
  }
}
