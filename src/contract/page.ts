import * as z from 'zod'
import { BooleanParam } from './field.ts'
import { componentOf, field, named, objectOf } from './fields.ts'
import { defaultPageSize, maximumPageSize } from './page-size.ts'

/** Query parameters of every list: page size, cursor and whether to count. */
export const paging = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maximumPageSize)
    .default(defaultPageSize)
    .meta({
      description: `Items per page (default ${defaultPageSize})`,
    }),
  cursor: z.string().max(2048).optional().meta({ description: 'nextCursor of the previous page' }),
  include_total: BooleanParam.default(false).meta({
    description: 'Include the total number of items (default false)',
  }),
}

/** Returns the parameter `sort=field` or `sort=-field`; default newest first. */
export function sorting<const Field extends string>(
  fields: readonly [Field, ...Field[]],
  standard: Field | `-${Field}`,
) {
  const both = fields.flatMap((field) => [field, `-${field}`] as const) as [Field | `-${Field}`]
  return z
    .enum(both)
    .default(standard as never)
    .meta({
      description: `Sort by this field; prefix with - for descending (default ${standard})`,
    })
}

/**
 * Returns the fields of a page. `nextCursor` is null only on the last page; `total` is present on request. If counting
 * stopped early, `totalIsExact` is false and `total` is a lower bound.
 */
export function pageFields<Item extends z.ZodType>(item: Item) {
  return {
    data: field(z.array(item), 'The items of this page'),
    nextCursor: field(z.string().nullable(), 'Send it as cursor to get the next page; null on the last page'),
    total: field(z.int().optional(), 'Number of items on all pages, if requested with include_total=true'),
    totalIsExact: field(
      z.boolean().optional(),
      'Whether total is exact; if false, there are at least that many',
    ),
  }
}

/** Returns the page of a list; `of` names its items: `courses`. */
export function page<Item extends z.ZodType>(item: Item, of: string) {
  return named(`${componentOf(item)?.name}Page`, `One page of ${of}`, objectOf(pageFields(item)))
}
