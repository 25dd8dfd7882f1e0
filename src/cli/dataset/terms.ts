import { calls } from '../../contract/calls.ts'
import { TermInput } from '../../contract/terms.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { ofFields, withoutOwnId } from './record.ts'
import { byExternalId, externalKeyOf } from './shown-records.ts'

const { list, get, create, update, batch } = calls.terms

/** Terms, matched by external id: names need not be unique. */
export const terms: Dataset = {
  name: 'terms',
  noun: 'term',
  schema: TermInput,
  columns: columnsOf(TermInput),
  keys: [['externalId']],
  references: {},
  operations: {
    list,
    get,
    create,
    update,
    delete: calls.terms.delete,
    batch,
    params: ({ id }) => ({ termId: String(id) }),
  },
  find: byExternalId('termId'),
  toRecord: async (shown) => ({ ...ofFields(TermInput, shown), externalId: externalKeyOf(shown) }),
  toBody: async (record, current) => withoutOwnId(record, current),
}
