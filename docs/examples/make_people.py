"""Writes an invented table of people, to people.csv or the file that is named: python make_people.py people.csv"""

import csv
import datetime
import random
import sys


def person(number: int, draw: random.Random) -> list[object]:
    age = min(97, max(18, round(draw.gauss(46, 17))))
    sex = draw.choice("FM")
    education = draw.choices(["school", "vocational", "college"], [4, 3, 2 + (age < 45)])[0]
    retired = age >= 53 and draw.random() < (age - 50) / 25
    income = draw.gauss({"school": 28, "vocational": 36, "college": 55}[education], 9) * (0.6 if retired else 1)
    joined = datetime.date(2015, 1, 1) + datetime.timedelta(days=draw.randrange(3653))
    told = "" if draw.random() < 0.05 else f"{max(0.0, income) * 1000:.2f}"
    return [number, age, sex, education, "yes" if retired else "no", told, joined]


draw = random.Random(1)
with open(sys.argv[1] if len(sys.argv) > 1 else "people.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["person", "age", "sex", "education", "retired", "income", "joined"])
    rows.writerows(person(number, draw) for number in range(1, 5001))
