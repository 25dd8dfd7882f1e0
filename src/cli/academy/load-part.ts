import type { Dataset } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import type { Part } from './entry.ts'

/** Dataset of a part of an academy. */
export interface PartDataset extends Dataset {
  readonly name: Part
}

/** Loads the dataset of a part. */
export async function loadPart(name: Part): Promise<PartDataset> {
  // loadDataset returns the dataset with that name.
  return (await loadDataset(name)) as PartDataset
}
