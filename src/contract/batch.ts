import * as z from 'zod'

/** Items in one batch. */
const maximumBatchSize = 1000

export const OnExists = z.enum(['fail', 'update', 'skip'])

/** What an operation with a batch says of it. */
export const batchDescription =
  'Each item succeeds or fails on its own. The response has one result for each item, in the same order.'

/** Many items in one request, each judged on its own. */
export function batchOf<Item extends z.ZodType>(item: Item, onExists: z.output<typeof OnExists>) {
  return z.strictObject({
    items: z.array(item).max(maximumBatchSize),
    onExists: OnExists.default(onExists).meta({
      description: `What to do with an item that already exists (default ${onExists})`,
    }),
  })
}

/** One result per item, in order: the status it would have had alone, its id, or what was wrong with it. */
export const BatchResult = z.object({
  results: z.array(
    z.object({
      index: z.int(),
      status: z
        .int()
        .meta({ description: '201 created, 200 updated or unchanged, otherwise the error status' }),
      id: z.string().optional(),
      code: z.string().optional().meta({ description: 'unchanged, skipped or the error code' }),
      detail: z.string().optional(),
      errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
    }),
  ),
})
export type BatchResult = z.output<typeof BatchResult>
