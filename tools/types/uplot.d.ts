// As much of uPlot as our pages use.

declare class uPlot {
  constructor(options: object, data: (number | null)[][], place: Element);
  cursor: { left?: number; idx?: number | null };
  data: number[][];
  height: number;
  over: HTMLElement;
  width: number;
  destroy(): void;
  redraw(rebuild?: boolean): void;
  setCursor(at: { left: number; top: number }): void;
  setSize(size: { width: number; height: number }): void;
  valToPos(value: number, scale: string): number;
}
