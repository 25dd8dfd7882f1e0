import * as z from 'zod'

/** Items in one batch. */
const maximumBatchSize = 1000

export const OnExists = z.enum(['fail', 'update', 'skip'])

/** Many items in one request, each judged on its own. */
export function batchOf<Item extends z.ZodType>(item: Item, onExists: z.output<typeof OnExists>) {
  return z.strictObject({
    items: z.array(item).max(maximumBatchSize),
    onExists: OnExists.default(onExists),
  })
}

/** One result per item, in order: the status it would have had alone, its id, or what was wrong with it. */
export const BatchResult = z.object({
  results: z.array(
    z.object({
      index: z.int(),
      status: z.int(),
      id: z.string().optional(),
      code: z.string().optional(),
      detail: z.string().optional(),
      errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
    }),
  ),
})
export type BatchResult = z.output<typeof BatchResult>
