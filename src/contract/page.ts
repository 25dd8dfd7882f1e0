import * as z from 'zod'
import { BooleanParam } from './field.ts'
import { defaultPageSize, maximumPageSize } from './page-size.ts'

/** The query of every list: how many, from where, and whether to count. */
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

/** `sort=field` or `sort=-field`; newest first unless told otherwise. */
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
 * One page of a list: `nextCursor` is null on the last one alone, `total` is there when asked for. Counting ends somewhere:
 * then `totalIsExact` is false and there are at least `total`.
 */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    nextCursor: z.string().nullable(),
    total: z.int().optional(),
    totalIsExact: z.boolean().optional(),
  })
}
