import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Dataset } from '../dataset/dataset.ts'
import type { Names } from '../dataset/names.ts'
import { valueAt } from '../output/columns.ts'

/** The columns whose values a record changes in the one that is there, as the API shows it. */
export async function changesOf(
  dataset: Dataset,
  record: JsonObject,
  shown: JsonObject,
  names: Names,
): Promise<readonly string[]> {
  const { columns, keys, references, schema } = dataset
  const current = await dataset.toRecord(shown, names)
  const body = await dataset.toBody(record, shown, names)
  const merged = merge(current, record)
  // As the server does: what is merged is read as a whole, so that the same value in another form is the same.
  const [before, after] = [schema.safeParse(current).data ?? current, schema.safeParse(merged).data ?? merged]
  const found: string[] = []
  for (const { name, path, secret } of columns) {
    const [field = ''] = path.split('.')
    if (valueAt(record, path) === undefined) continue
    const sent = Object.hasOwn(body, field) || Object.hasOwn(body, `${field}Id`)
    if (!sent && dataset.operations.update !== undefined) continue
    const { field: named, to = 'course' } = dataset.refersTo?.(record) ?? {}
    if (field === named) {
      if ((await names[to](String(record[field])))?.['id'] !== shown[field]) found.push(name)
      continue
    }
    const reference = references[field]
    if (reference !== undefined) {
      if (keys.some((set) => set.includes(field))) continue
      if ((await names.course(String(record[field])))?.['id'] !== shown[field]) found.push(name)
    } else if (secret || !isDeepStrictEqual(valueAt(before, path), valueAt(after, path))) found.push(name)
  }
  return found
}

/** What a merge patch makes of a value (RFC 7396), null being a value here. */
function merge(value: unknown, patch: JsonObject): JsonObject {
  const merged: JsonObject = isJsonObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    merged[name] = isJsonObject(member) ? merge(merged[name], member) : member
  }
  return merged
}
