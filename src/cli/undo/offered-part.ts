import type { Caller } from '../../client/caller.ts'
import { isOffered, publishedApi } from '../../client/published-api.ts'
import type { Call } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import { modulesIn, type UndoAction, type UndoPlan } from './plan-undo.ts'

/** Returns a plan without the actions that the platform does not support; they are kept, with the reason. */
export async function offeredPart(
  { io }: Pick<Context, 'io'>,
  caller: Caller,
  plan: UndoPlan,
): Promise<UndoPlan> {
  const document = await publishedApi(caller, io.signal)
  const offeredByOperation = new Map<Call, boolean>()
  const actions: UndoAction[] = []
  const kept = [...plan.kept]
  for (const action of plan.actions) {
    const operation = operationOf(action)
    const { net, current } = action
    if (operation && !offeredByOperation.has(operation)) {
      const params = action.of.dataset.operations.params({ ...net.known, ...current, id: net.id })
      const isThere = await isOffered(caller, document, operation, params, io.signal)
      offeredByOperation.set(operation, isThere === true)
    }
    if (operation && offeredByOperation.get(operation)) actions.push(withNewModules(action))
    else {
      const { noun, id, name } = net
      kept.push({ noun, id, name, fields: [...action.fields.keys()], reason: reasons[action.kind] })
    }
  }
  return { ...plan, actions, kept }
}

/** Returns an action on a course whose removed modules come back with other ids: only this API takes the former ones. */
function withNewModules(action: UndoAction): UndoAction {
  const modules = action.fields.get('modules')
  if (!modules) return action
  const known = new Set(modulesIn(modules.from).map(({ id }) => id))
  const to = modulesIn(modules.to).map(({ id, ...module }) => (known.has(id) ? { id, ...module } : module))
  return { ...action, fields: new Map([...action.fields, ['modules', { ...modules, to }]]) }
}

const reasons = {
  create: 'cannot be restored on this platform',
  update: 'cannot be changed on this platform',
  delete: 'cannot be deleted on this platform',
} as const

function operationOf({ kind, of }: UndoAction): Call | undefined {
  const { update, restore, create, delete: remove } = of.dataset.operations
  if (kind === 'delete') return remove
  if (kind === 'update') return update ?? create
  return of.isMarked ? update : (restore ?? create)
}
