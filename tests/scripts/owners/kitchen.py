# kitchen maths - I got tired of looking these up
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import List, Optional


class Unit(Enum):
    ML = "ml"
    CUP = "cup"
    TBSP = "tbsp"
    TSP = "tsp"


IN_ML = {Unit.ML: 1.0, Unit.CUP: 236.588, Unit.TBSP: 14.787, Unit.TSP: 4.929}


@dataclass
class Ingredient:
    name: str
    amount: float
    unit: Unit = Unit.ML
    note: Optional[str] = None


@dataclass
class Recipe:
    title: str
    serves: int
    ingredients: List[Ingredient] = field(default_factory=list)


def convert(amount: float, source: Unit, target: Unit = Unit.ML) -> float:
    """
    Convert a kitchen measure.

    Parameters
    ----------
    amount : float
        How much of it.
    source : Unit
        The unit it is in.
    target : Unit, optional
        The unit wanted (default ml).

    Returns
    -------
    float
        rounded to 2 digits
    """
    return round(amount * IN_ML[source] / IN_ML[target], 2)


def scale(recipe: Recipe, serves: int) -> Recipe:
    """
    Scale a recipe to another number of people.

    Parameters
    ----------
    recipe : Recipe
    serves : int
        For how many
    """
    if recipe.serves == 0:
        raise ZeroDivisionError("the recipe serves nobody")
    factor = Fraction(serves, recipe.serves)
    scaled = [Ingredient(i.name, round(i.amount * float(factor), 2), i.unit, i.note) for i in recipe.ingredients]
    return Recipe(recipe.title, serves, scaled)


if __name__ == "__main__":
    pancakes = Recipe("pancakes", 2, [Ingredient("milk", 1.5, Unit.CUP), Ingredient("oil", 1, Unit.TBSP)])
    print(scale(pancakes, 5))
